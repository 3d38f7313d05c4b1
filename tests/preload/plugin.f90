! What loads.c loads.
subroutine run_plugin() bind(C)
  use MODULE
  implicit none
  integer :: rank, error, i, which, mine(2)
#ifdef USE_mpi_f08
  type(MPI_Request) :: requests(2)
#else
  integer :: requests(2)
#endif
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  do i = 1, 5
    mine = [rank + i, 7]
    call MPI_Allreduce(MPI_IN_PLACE, mine, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    print '(3I6)', rank, mine
  end do
  call MPI_Ibarrier(MPI_COMM_WORLD, requests(1), error)
  call MPI_Ibarrier(MPI_COMM_WORLD, requests(2), error)
  call MPI_Waitany(2, requests, which, MPI_STATUS_IGNORE, error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  if (which < 1 .or. which > 2) print '(A, I6)', "which is", which
  call MPI_Finalize(error)
end subroutine
