! The functions of wisp.h, neighborhood.h and chain.h for Fortran: their names, over the handles of mpi_f08. Buffers
! are arrays of any type and rank, also subarrays; counts are default integers, or of MPI_COUNT_KIND; indices of
! arrays begin with 1; `ierror` is optional, and without it an error ends the program with its sentence.
module wisp
  use, intrinsic :: iso_c_binding
  use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_Group, MPI_Info, MPI_Op, MPI_Status, MPI_COUNT_KIND, &
      MPI_ADDRESS_KIND, MPI_IN_PLACE, MPI_BOTTOM, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE
  implicit none

  ! As color of a split: this process is left out.
  character(kind=c_char), bind(C, name="WISP_Undefined_color"), protected :: WISP_UNDEFINED

  ! Handles, of which a new one is null, and the interfaces.
  include "interfaces.inc"

contains

  include "procedures.inc"

  ! The sentence of the last error: the call, the argument, its value and its bound.
  function WISP_Error_message() result(sentence)
    character(len=:), allocatable :: sentence
    interface
      function message() bind(C, name="WISP_Error_message")
        import :: c_ptr
        type(c_ptr) :: message
      end function
      function length(of) bind(C, name="strlen")
        import :: c_ptr, c_size_t
        type(c_ptr), value :: of
        integer(c_size_t) :: length
      end function
    end interface
    type(c_ptr) :: of_c
    character(kind=c_char), pointer :: characters(:)
    integer :: i
    of_c = message()
    call c_f_pointer(of_c, characters, [length(of_c)])
    allocate (character(len=size(characters)) :: sentence)
    do i = 1, size(characters)
      sentence(i:i) = characters(i)
    end do
  end function

  ! What has a meaning by its address has another one in C.
  subroutine wisp_fortran_tell_addresses() bind(C, name="wisp_fortran_tell_addresses")
    interface
      subroutine take_buffers(in_place, bottom) bind(C, name="wisp_fortran_take_buffers")
        type(*), dimension(..) :: in_place, bottom
      end subroutine
      subroutine take_statuses(ignore, ignore_all, bytes) bind(C, name="wisp_fortran_take_statuses")
        import :: MPI_Status
        type(MPI_Status) :: ignore, ignore_all(*)
        integer, intent(in) :: bytes
      end subroutine
    end interface
    call take_buffers(MPI_IN_PLACE, MPI_BOTTOM)
    call take_statuses(MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE, storage_size(MPI_STATUS_IGNORE) / 8)
  end subroutine
end module
