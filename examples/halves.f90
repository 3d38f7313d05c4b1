! The Fortran module: the two halves of all ranks broadcast at the same time.
program halves
  use mpi_f08
  use wisp
  implicit none
  type(WISP_Comm) :: world, half
  type(WISP_Request) :: request
  integer :: rank, ranks, middle, rank_in_half
  double precision, asynchronous :: value

  call MPI_Init()
  call WISP_Comm_duplicate(MPI_COMM_WORLD, world)
  call WISP_Comm_rank(world, rank)
  call WISP_Comm_size(world, ranks)
  middle = ranks / 2
  ! Local: no message, no synchronization.
  if (rank < middle) then
    call WISP_Comm_range(world, 0, middle - 1, 1, half)
  else
    call WISP_Comm_range(world, middle, ranks - 1, 1, half)
  end if
  call WISP_Comm_rank(half, rank_in_half)
  value = merge(1.5d0, 2.5d0, rank < middle)
  if (rank_in_half /= 0) value = 0
  call WISP_Ibcast(value, 1, MPI_DOUBLE_PRECISION, 0, half, request)
  ! … other work …
  call WISP_Wait(request, MPI_STATUS_IGNORE)
  print "(3(a, i0), a, f3.1)", "rank ", rank, " of ", ranks, ": rank ", rank_in_half, " of its half has ", value
  call WISP_Comm_free(half)
  call WISP_Comm_free(world)
  call MPI_Finalize()
end program
