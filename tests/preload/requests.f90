! A program that knows nothing of wisp: nonblocking collectives beside null requests in every wait and test of
! mpi_f08, persistent ones (-DPERSISTENT), and (-DCALLBACKS) a function that is called while a communicator is freed.
module callbacks
  use mpi_f08
  implicit none
  type(MPI_Comm) :: dying  ! where MPI hands on another (-DKEEPS_HANDLE)
contains
  subroutine drop(comm, keyval, value, extra, ierror)
    type(MPI_Comm) :: comm
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    integer :: one, total
    one = 1
    call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, &
#ifdef KEEPS_HANDLE
                       dying)
#else
                       comm)
#endif
    ierror = MPI_SUCCESS
  end subroutine
end module

program requests
  use mpi_f08
  use callbacks
  implicit none
  type(MPI_Request) :: r(3)
  type(MPI_Status) :: status, statuses(3)
  integer, asynchronous :: mine, total
  integer :: rank, ranks, step, index, count, indices(3)
  logical :: flag
  integer(kind=8) :: result

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Barrier(MPI_COMM_WORLD)
  result = 0
  do step = 1, 60
    if (mod(step + rank, 3) == 0) call be_late()
    mine = step + rank
    total = 0
    call MPI_Iallreduce(mine, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(1))
    r(2) = MPI_REQUEST_NULL
    call MPI_Ibarrier(MPI_COMM_WORLD, r(3))
    select case (mod(step, 6))
    case (0)
      call MPI_Waitall(3, r, MPI_STATUSES_IGNORE)
    case (1)
      call MPI_Waitany(3, r, index, status)
      result = result + 100 * index
      call MPI_Waitany(3, r, index, MPI_STATUS_IGNORE)
      result = result + 100 * index
      call MPI_Waitany(3, r, index, status)
      if (index /= MPI_UNDEFINED) print *, "index", index
    case (2)
      do
        call MPI_Waitsome(3, r, count, indices, statuses)
        if (count == MPI_UNDEFINED) exit
        result = result + 10000 * sum(indices(1:count))
      end do
    case (3)
      do
        call MPI_Testall(3, r, flag, statuses)
        if (flag) exit
      end do
    case (4)
      do
        call MPI_Testany(3, r, index, flag, status)
        if (flag .and. index == MPI_UNDEFINED) exit
        if (flag) result = result + 1000000 * index
      end do
    case (5)
      do
        call MPI_Testsome(3, r, count, indices, MPI_STATUSES_IGNORE)
        call MPI_Request_get_status(r(1), flag, status)
        if (flag) exit
      end do
      call MPI_Wait(r(1), status)
      do
        call MPI_Test(r(3), flag, MPI_STATUS_IGNORE)
        if (flag) exit
      end do
    end select
    result = result + total
  end do
#ifdef PERSISTENT
  call MPI_Allreduce_init(mine, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r(1))
  call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, r(3))
  r(2) = MPI_REQUEST_NULL
  do step = 1, 2000
    call MPI_Start(r(1))
    call MPI_Start(r(3))
    call MPI_Waitall(3, r, MPI_STATUSES_IGNORE)
    result = result + total
  end do
  call MPI_Request_free(r(1))
  call MPI_Request_free(r(3))
#endif
#ifdef CALLBACKS
  call free_in_turn()
#endif
  print *, rank, result
  call MPI_Finalize()

contains

  subroutine be_late()
    double precision :: from
    from = MPI_Wtime()
    do while (MPI_Wtime() < from + 5d-4)
    end do
  end subroutine

  subroutine free_in_turn()
    type(MPI_Comm) :: comm
    integer :: keyval, i
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, keyval, 0_MPI_ADDRESS_KIND)
    do i = 1, 20
      call MPI_Comm_split(MPI_COMM_WORLD, merge(mod(rank, 2), 0, mod(i, 2) == 0), 0, comm)
      call MPI_Comm_set_attr(comm, keyval, 0_MPI_ADDRESS_KIND)
      call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, comm)
      result = result + total
      dying = comm
      call MPI_Comm_free(comm)
    end do
  end subroutine
end program
