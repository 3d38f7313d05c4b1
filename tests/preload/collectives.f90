! A program that knows nothing of wisp: collectives through the module mpi_f08, mpi or mpif.h, whose results are
! one number a rank. Compiled with -DUSE_F08, -DUSE_MPI or neither.
program collectives
#ifdef USE_F08
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if !defined(USE_F08) && !defined(USE_MPI)
  include 'mpif.h'
#endif
#ifdef USE_F08
  type(MPI_Comm) :: comm
  type(MPI_Datatype) :: types(64)
#else
  integer :: comm, types(64)
#endif
  integer :: rank, ranks, step, root, i, error, total
  integer :: counts(64), places(64), ones(64)
  integer :: mine(256), all(4096)
  double precision :: values(8), sums(8)
  integer(kind=8) :: result

  call MPI_Init(error)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
  call MPI_Comm_rank(comm, rank, error)
  call MPI_Comm_size(comm, ranks, error)
  result = 0
  do step = 1, 40
    root = mod(step, ranks)
    mine = [(rank * 13 + step + i, i = 1, 256)]
    all = 0
    if (rank == root) all(1:5) = mine(1:5)
    call MPI_Bcast(all, 5, MPI_INTEGER, root, comm, error)
    call add(all, 5)

    values = [(dble(rank + i), i = 1, 8)]
    call MPI_Allreduce(MPI_IN_PLACE, values, 8, MPI_DOUBLE_PRECISION, MPI_SUM, comm, error)
    sums = 0
    call MPI_Reduce(values, sums, 8, MPI_DOUBLE_PRECISION, MPI_MAX, root, comm, error)
    result = result + int(sum(sums), 8)

    total = 0
    do i = 1, ranks
      counts(i) = mod(i + step, 4)
      places(i) = total
      total = total + counts(i) + 1
    end do
    all = -1
    if (rank == root) then
      all(places(rank + 1) + 1 : places(rank + 1) + counts(rank + 1)) = mine(1:counts(rank + 1))
      call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INTEGER, all, counts, places, MPI_INTEGER, root, comm, error)
    else
      call MPI_Gatherv(mine, counts(rank + 1), MPI_INTEGER, all, counts, places, MPI_INTEGER, root, comm, error)
    end if
    call add(all, 4 * total)
    call MPI_Scatterv(all, counts, places, MPI_INTEGER, mine, counts(rank + 1), MPI_INTEGER, root, comm, error)
    call add(mine, 4)
    call MPI_Allgatherv(mine, counts(rank + 1), MPI_INTEGER, all, counts, places, MPI_INTEGER, comm, error)
    call add(all, 4 * total)

    ones = 1
    places(1:ranks) = [(i - 1, i = 1, ranks)]
    call MPI_Alltoallv(mine, ones, places, MPI_INTEGER, all, ones, places, MPI_INTEGER, comm, error)
    call add(all, ranks)
    places(1:ranks) = 4 * places(1:ranks)
    types(1:ranks) = MPI_INTEGER
    call MPI_Alltoallw(mine, ones, places, types, all(100), ones, places, types, comm, error)
    call add(all, 200)
    call MPI_Scan(mine, all, 6, MPI_INTEGER, MPI_SUM, comm, error)
    call add(all, 6)
    call MPI_Barrier(comm, error)
  end do
  print '(i0, 1x, i0)', rank, result
  call MPI_Comm_free(comm, error)
  call MPI_Finalize(error)

contains
  subroutine add(numbers, count)
    integer, intent(in) :: numbers(:), count
    integer :: j
    do j = 1, count
      result = mod(result * 31 + numbers(j), 1000000007_8)
    end do
  end subroutine
end program
