! The Fortran module beside MPI's own calls: whole arrays and subarrays, both kinds of counts, statuses, indices, errors.
module expectations
  use mpi_f08
  use wisp
  implicit none
  type(WISP_Comm) :: comm
  integer :: rank, ranks, failures = 0

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    print "(a, i0, 2a)", "rank ", rank, ": ", what
  end subroutine

  subroutine run(test, name)
    interface
      subroutine test()
      end subroutine
    end interface
    character(len=*), intent(in) :: name
    integer :: failed
    failed = -failures
    call test()
    failed = failed + failures
    call MPI_Allreduce(MPI_IN_PLACE, failed, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) print "(2a)", trim(merge("ok -    ", "not ok -", failed == 0)), " " // name
  end subroutine

  ! Elements that tell their rank.
  elemental integer function of(owner, i)
    integer, intent(in) :: owner, i
    of = 1000 * owner + i
  end function

  subroutine communicators()
    type(WISP_Comm) :: half
    type(MPI_Comm) :: of_mpi
    type(MPI_Group) :: group, of_half
    integer :: size, error, translated
    call WISP_Comm_range(comm, rank / 2 * 2, min(rank / 2 * 2 + 1, ranks - 1), 1, half, error)
    call expect(error == MPI_SUCCESS, "range")
    call WISP_Comm_size(half, size)
    call expect(size == merge(1, 2, rank == ranks - 1 .and. mod(rank, 2) == 0), "size of a range")
    call WISP_Comm_translate(half, 0, comm, translated)
    call expect(translated == rank / 2 * 2, "translated")
    call expect(half /= WISP_Comm(), "a handle that is not null")
    call WISP_Comm_group(half, group)
    call WISP_Comm_to_mpi(half, of_mpi)
    call MPI_Comm_group(of_mpi, of_half)
    call MPI_Group_compare(group, of_half, translated)
    call expect(translated == MPI_IDENT, "a group")
    call MPI_Group_free(group)
    call MPI_Group_free(of_half)
    call MPI_Comm_size(of_mpi, translated)
    call expect(translated == size, "an MPI communicator")
    call MPI_Comm_free(of_mpi)
    call WISP_Comm_free(half)
    call expect(half == WISP_Comm(), "a freed handle is null")
  end subroutine

  subroutine broadcasts()
    integer, asynchronous :: table(6, 5)
    type(WISP_Request) :: request
    integer :: root, i, form
    integer :: due(6, 5)
    due = reshape([(i, i=1, 30)], [6, 5])
    do root = 0, ranks - 1
      do form = 1, 6
        table = -1
        if (rank == root) table = due
        select case (form)
        case (1)
          call WISP_Bcast(table, 30, MPI_INTEGER, root, comm)
          call expect(all(table == due), "a whole array")
        case (2)
          call WISP_Bcast(table(2:3, ::2), 6_MPI_COUNT_KIND, MPI_INTEGER, root, comm)
          call expect(all(table(2:3, ::2) == due(2:3, ::2)), "rows and columns")
          call expect(rank == root .or. count(table == -1) == 24, "the rest stays")
        case (3)
          call WISP_Ibcast(table(4, :), 5, MPI_INTEGER, root, comm, request)
          call WISP_Wait(request, MPI_STATUS_IGNORE)
          call expect(all(table(4, :) == due(4, :)), "a row")
        case (4)
          call WISP_Bcast_init(table(6:1:-1, 5:1:-1), 30, MPI_INTEGER, root, comm, MPI_INFO_NULL, request)
          call WISP_Start(request)
          call WISP_Wait(request, MPI_STATUS_IGNORE)
          call WISP_Request_free(request)
          call expect(all(table == due), "backwards")
        case (5)
          call WISP_Bcast(table(1:6, 2:4), 3, MPI_INTEGER, root, comm)
          call expect(all(table(1:3, 2) == due(1:3, 2)), "a part of a column")
        case default  ! a subarray on one side, an array on the other
          if (rank == root) then
            call WISP_Bcast(table(1:6:2, 1:5:2), 9, MPI_INTEGER, root, comm)
          else
            call WISP_Bcast(table(1:3, 1:3), 9, MPI_INTEGER, root, comm)
            call expect(all(table(1:3, 1:3) == due(1:6:2, 1:5:2)), "of one signature")
          end if
        end select
      end do
    end do
  end subroutine

  subroutine reductions()
    type :: point
      integer :: x, y
    end type
    type(point) :: points(4)
    integer :: least(1)
    double precision :: mine(4, 3), sum(4, 3), due(4, 3), big(8, 6)
    type(WISP_Request) :: request
    integer :: error, i
    mine = reshape([(rank + i, i=1, 12)], [4, 3])
    call MPI_Allreduce(mine, due, 12, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    call WISP_Allreduce(mine, sum, 12, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
    call expect(all(sum == due), "allreduce")
    sum = mine
    call WISP_Allreduce(MPI_IN_PLACE, sum, 12_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
    call expect(all(sum == due), "in place")
    big = -1
    big(1:8:2, 1:6:2) = mine
    call WISP_Allreduce(MPI_IN_PLACE, big(1:8:2, 1:6:2), 12, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
    call expect(all(big(1:8:2, 1:6:2) == due), "a subarray in place")
    call expect(count(big == -1) == 36, "the rest stays")
    call WISP_Iallreduce(mine(1:4:2, :), sum, 6, MPI_DOUBLE_PRECISION, MPI_SUM, comm, request, error)
    call expect(error == MPI_ERR_BUFFER, "a nonblocking reduction of a subarray is an error")
    call expect(index(WISP_Error_message(), "WISP_Iallreduce: sendbuf is a subarray with gaps") == 1, WISP_Error_message())
    call WISP_Allreduce(mine(1:4:2, :), sum, 2000, MPI_DOUBLE_PRECISION, MPI_SUM, comm, error)
    call expect(error == MPI_ERR_BUFFER, "more elements than a subarray has are an error")
    call expect(index(WISP_Error_message(), "WISP_Allreduce: sendbuf is a subarray with gaps of 48 bytes: 2000") == 1, &
                WISP_Error_message())
    points%x = 5
    points%y = 7 + rank
    call WISP_Allreduce(points(2:2)%y, least, 1, MPI_INTEGER, MPI_MIN, comm)
    call expect(least(1) == 7, "one component")
    call WISP_Allreduce(least, points(2:2)%y, 1, MPI_INTEGER, MPI_MAX, comm)
    call expect(points(2)%x == 5 .and. points(2)%y == 7, "into one component")
    call WISP_Allreduce(points%x, points%y, 4, MPI_INTEGER, MPI_SUM, comm)
    call expect(all(points%x == 5 .and. points%y == 5 * ranks), "a component of all")
    associate (some => points(1:4:2))
      call WISP_Allreduce(MPI_IN_PLACE, some%x, 2, MPI_INTEGER, MPI_SUM, comm)
    end associate
    call expect(all(points%x == [5 * ranks, 5, 5 * ranks, 5]), "an associate name")
    sum = mine
    call WISP_Exscan(mine, sum, 12, MPI_DOUBLE_PRECISION, MPI_MAX, comm)
    call expect(all(sum == merge(mine, mine - 1, rank == 0)), "exscan")
  end subroutine

  subroutine blocks()
    integer, asynchronous :: mine(3), table(5, 0:ranks - 1), column(5), others(3, 0:ranks - 1)
    type(WISP_Request) :: request
    integer :: counts(0:ranks - 1), displs(0:ranks - 1), table_of_counts(2, ranks), error, i
    type(MPI_Datatype) :: types(0:ranks - 1)
    mine = of(rank, [1, 2, 3])
    table = -1
    call WISP_Gather(mine, 3, MPI_INTEGER, table(2:4, :), 3, MPI_INTEGER, ranks - 1, comm)
    do i = 0, ranks - 1
      if (rank == ranks - 1) call expect(all(table(:, i) == [-1, of(i, 1), of(i, 2), of(i, 3), -1]), "gather")
    end do
    column = of(rank, [1, 2, 3, 4, 5])
    table = -1
    call WISP_Iallgather(column(1:5:2), 3, MPI_INTEGER, table(1:5:2, :), 3, MPI_INTEGER, comm, request)
    call WISP_Wait(request, MPI_STATUS_IGNORE)
    do i = 0, ranks - 1
      call expect(all(table(:, i) == [of(i, 1), -1, of(i, 3), -1, of(i, 5)]), "allgather")
    end do
    others = -1
    do i = 0, ranks - 1
      table(:, i) = of(rank, [(10 * i + error, error=1, 5)])
    end do
    call WISP_Alltoall(table(3:5, :), 3, MPI_INTEGER, others, 3, MPI_INTEGER, comm)
    do i = 0, ranks - 1
      call expect(all(others(:, i) == of(i, 10 * rank + [3, 4, 5])), "alltoall")
    end do
    counts = [(mod(i, 3), i=0, ranks - 1)]
    displs = [(3 * i, i=0, ranks - 1)]
    others = -1
    call WISP_Gatherv(mine, counts(rank), MPI_INTEGER, others, counts, displs, MPI_INTEGER, 0, comm)
    do i = 0, ranks - 1
      if (rank == 0) call expect(all(others(1:counts(i), i) == of(i, [(error, error=1, counts(i))])), "gatherv")
    end do
    types = MPI_INTEGER
    counts = 3
    others = -1
    do i = 0, ranks - 1
      table(1:3, i) = of(rank, i)
    end do
    call WISP_Alltoallw(table(1:3, :), counts, 4 * displs, types, others, counts, 4 * displs, types, comm)
    call expect(all(others == spread(of([(i, i=0, ranks - 1)], rank), 1, 3)), "alltoallw")
    ! Arrays that the compiler makes for the call: a constructor, and rows of a table.
    table_of_counts(1, :) = 1
    table_of_counts(2, :) = displs
    others = -1
    call WISP_Iallgatherv(mine(2), 1, MPI_INTEGER, others, [(1, i=1, ranks)], table_of_counts(2, :), MPI_INTEGER, comm, request)
    call WISP_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(others(1, :) == of([(i, i=0, ranks - 1)], 2)), "counts of a constructor")
    others = -1
    call WISP_Allgatherv_init(mine(3), 1, MPI_INTEGER, others, table_of_counts(1, :), table_of_counts(2, :), MPI_INTEGER, &
        comm, MPI_INFO_NULL, request)
    table_of_counts = -7
    call WISP_Start(request)
    call WISP_Wait(request, MPI_STATUS_IGNORE)
    call WISP_Request_free(request)
    call expect(all(others(1, :) == of([(i, i=0, ranks - 1)], 3)), "counts of a table's row")
    ! What the root alone looks at is anything elsewhere.
    others = -1
    call WISP_Gather(mine, 2, MPI_INTEGER, others(2:3, :), merge(2, 777, rank == 0), MPI_INTEGER, 0, comm)
    call WISP_Igather(mine, 2, MPI_INTEGER, others(2:3, :), merge(2, 777, rank == 0), MPI_INTEGER, 0, comm, request)
    call WISP_Wait(request, MPI_STATUS_IGNORE)
    do i = 0, ranks - 1
      if (rank == 0) call expect(all(others(2:3, i) == of(i, [1, 2])), "gather at the root alone")
    end do
    if (ranks > 1) then
      call WISP_Allgather(mine, 2, MPI_INTEGER, table(1:3, :), 2, MPI_INTEGER, comm, error)
      call expect(error == MPI_ERR_COUNT, "blocks that are no whole columns are an error")
    end if
  end subroutine

  subroutine messages()
    type(WISP_Request) :: requests(3)
    type(MPI_Status) :: status, statuses(3)
    integer, asynchronous :: sent(2, 3), received(4, 3)
    integer :: next, previous, n, at, i, error, indices(2)
    character(len=3), asynchronous :: words(4), come(2)
    logical :: flag
    indices = 5
    next = mod(rank + 1, ranks)
    previous = mod(rank + ranks - 1, ranks)
    sent = of(rank, reshape([1, 2, 3, 4, 5, 6], [2, 3]))
    received = -1
    received(2, :) = rank
    call WISP_Sendrecv_replace(received(2, :), 3, MPI_INTEGER, next, 8, previous, 8, comm, status)
    call expect(all(received(2, :) == previous) .and. all(received(1, :) == -1), "what is sent is replaced")
    received = -1
    call WISP_Isend(sent, 6, MPI_INTEGER, next, 5, comm, requests(1))
    call WISP_Probe(previous, MPI_ANY_TAG, comm, status)
    call expect(status%MPI_SOURCE == previous .and. status%MPI_TAG == 5, "probe")
    call MPI_Get_count(status, MPI_INTEGER, n)
    call expect(n == 6, "count of a status")
    call WISP_Recv(received(2:3, :), 6, MPI_INTEGER, MPI_ANY_SOURCE, 5, comm, status)
    call expect(status%MPI_SOURCE == previous, "source")
    call expect(all(received(2:3, :) == of(previous, reshape([1, 2, 3, 4, 5, 6], [2, 3]))), "received")
    call WISP_Wait(requests(1), MPI_STATUS_IGNORE)
    call WISP_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, flag, MPI_STATUS_IGNORE)
    call expect(.not. flag, "nothing is left")
    call WISP_Barrier(comm)  ! nobody looks for messages that are sent from here on
    do i = 1, 3
      call WISP_Irecv(received(:, i), 4, MPI_INTEGER, previous, i, comm, requests(i))
    end do
    call WISP_Send(sent(:, 2), 2, MPI_INTEGER, next, 2, comm)
    call WISP_Waitany(3, requests, at, status)
    call expect(at == 2 .and. status%MPI_TAG == 2, "indices begin with 1")
    call WISP_Barrier(comm)
    call WISP_Send(sent(1, 1:3), 3, MPI_INTEGER, next, 1, comm)
    call WISP_Send(sent(1, 1:3), 3, MPI_INTEGER, next, 3, comm)
    call WISP_Waitall(3, requests, statuses)
    call expect(statuses(1)%MPI_TAG == 1 .and. statuses(3)%MPI_TAG == 3, "statuses")
    call expect(all(received(1:3, 3) == of(previous, [1, 3, 5])), "a row as a column")
    call WISP_Testall(3, requests, flag, MPI_STATUSES_IGNORE)
    call expect(flag, "all are done")
    n = 7
    call WISP_Waitsome(-1, requests, n, indices, MPI_STATUSES_IGNORE, error)
    call expect(error == MPI_ERR_COUNT .and. n == 0 .and. all(indices == 5), "an error writes no indices")
    words = [character(len=3) :: "one", "two", "six", "ten"]
    call WISP_Isend(words(1:4:2), 6, MPI_CHARACTER, next, 8, comm, requests(1))
    call WISP_Recv(come, 6, MPI_CHARACTER, previous, 8, comm, MPI_STATUS_IGNORE)
    call WISP_Wait(requests(1), MPI_STATUS_IGNORE)
    call expect(all(come == ["one", "six"]), "every second word")
  end subroutine

  subroutine neighbors()
    type(WISP_Neighborhood) :: torus
    integer :: offsets(1, 2), sources(2), targets(2), sent(3, 2), received(5, 2), index, periods(1)
    offsets = reshape([-1, 1], [1, 2])
    periods = 1
    call WISP_Neighborhood_create(comm, 1, [ranks], periods, 2, offsets, neighborhood=torus)
    call WISP_Neighborhood_get(torus, 2, sources, targets)
    call expect(targets(1) == mod(rank + ranks - 1, ranks) .and. sources(1) == mod(rank + 1, ranks), "neighbors")
    call WISP_Neighborhood_find_offset(torus, [1], index)
    call expect(index == merge(2, 1, ranks > 2), "of which offsets")
    sent = of(rank, reshape([1, 2, 3, 4, 5, 6], [3, 2]))
    received = -1
    call WISP_Neighbor_alltoall(sent, 3, MPI_INTEGER, received(2:4, :), 3, MPI_INTEGER, torus)
    call expect(all(received(:, 1) == [-1, of(sources(1), [1, 2, 3]), -1]), "from the right")
    call expect(all(received(:, 2) == [-1, of(sources(2), [4, 5, 6]), -1]), "from the left")
    call WISP_Neighborhood_free(torus)
  end subroutine

  subroutine splits()
    type(WISP_Chain) :: chain, part
    type(WISP_Comm) :: halves
    integer :: error, size, color, sum, labels(4), ones(100), sums(100)
    call WISP_Chain_of_comm(comm, chain)
    color = mod(rank, 3)
    if (color == 2) then
      call WISP_Split(chain, WISP_UNDEFINED, 1, MPI_INT, rank, 1, MPI_INT, MPI_INFO_NULL, part)
      call expect(part == WISP_Chain(), "left out")
    else
      call WISP_Split(chain, color, 1, MPI_INT, -rank, 1, MPI_INT, MPI_INFO_NULL, part, error)
      call expect(error == MPI_SUCCESS, WISP_Error_message())
      call WISP_Chain_size(part, size)
      call expect(size == (ranks - color + 2) / 3, "size of a part")
      call WISP_Chain_allreduce(1, sum, 1, MPI_INTEGER, MPI_SUM, part)
      call expect(sum == size, "a part's sum")
      call WISP_Chain_free(part)
    end if
    labels = [rank / 2, 7, 9, 7]
    ones = 1
    sums = 0
    call WISP_Chain_segmented_scan(labels(1:3:2), 2, MPI_INTEGER, ones, sums, 100, MPI_INTEGER, MPI_SUM, chain)
    call expect(all(sums == 1 + mod(rank, 2)), "a segmented scan")
    call WISP_Chain_scan(ones, sums, 100, MPI_INTEGER, MPI_SUM, chain)
    call expect(all(sums == rank + 1), "a scan of a chain")
    labels = [mod(rank, 2), 7, 9, 7]
    call WISP_Split(chain, labels(1:3:2), 2, MPI_INTEGER, rank, 1, MPI_INTEGER, MPI_INFO_NULL, part)
    call WISP_Chain_size(part, size)
    call expect(size == (ranks + 1 - mod(rank, 2)) / 2, "a color of two integers of Fortran")
    call WISP_Chain_free(part)
    call WISP_Chain_free(chain)
    call WISP_Comm_split(comm, mod(rank, 2), 0, halves)
    call WISP_Comm_size(halves, size)
    call expect(size == (ranks + 1 - mod(rank, 2)) / 2, "size of a half")
    call WISP_Comm_free(halves)
  end subroutine

  subroutine exchanges()
    type(WISP_Arrivals) :: arrivals
    type(c_ptr) :: data
    integer, pointer :: elements(:)
    integer :: n, source
    integer(MPI_COUNT_KIND) :: bytes
    call WISP_Arrivals_create(arrivals)
    call WISP_Exchange(1, [mod(rank + 1, ranks)], [rank, 7], [2], [0], MPI_INTEGER, arrivals, comm)
    call WISP_Arrivals_count(arrivals, n)
    call expect(n == 1, "one block")
    call WISP_Arrivals_block(arrivals, 1, source, data, bytes)
    call c_f_pointer(data, elements, [bytes / 4])
    call expect(source == mod(rank + ranks - 1, ranks) .and. all(elements == [source, 7]), "the block")
    call WISP_Arrivals_free(arrivals)
  end subroutine

  subroutine precisions()
    integer, parameter :: wide = selected_real_kind(15)
    type(MPI_Datatype) :: real_of_15
    real(wide) :: values(8), due(8)
    integer :: error, i
    call MPI_Type_create_f90_real(15, MPI_UNDEFINED, real_of_15)
    values = [(rank + 10 * i, i=1, 8)]
    due = values
    due(1:8:2) = [(10 * i, i=1, 8, 2)]
    call WISP_Bcast(values(1:8:2), 4, real_of_15, 0, comm, error)
    call expect(error == MPI_SUCCESS, WISP_Error_message())
    call expect(all(values == due), "every second number of a precision")
    call WISP_Bcast(values, 8, real_of_15, 0, comm)
    call expect(all(values == [(10 * i, i=1, 8)]), "all of them")
  end subroutine

  subroutine errors()
    integer :: error, value, several(4)
    call WISP_Bcast(several(1:4:2), 1, MPI_2INTEGER, 0, comm, error)
    call expect(error == MPI_ERR_TYPE, "elements of another datatype with gaps")
    call WISP_Bcast(value, 1, MPI_INTEGER, ranks, comm, error)
    call expect(error == MPI_ERR_ROOT, "a wrong root")
    call expect(index(WISP_Error_message(), "WISP_Bcast: root") == 1, WISP_Error_message())
    call WISP_Bcast(value, 1, MPI_INTEGER, 0, WISP_Comm(), error)
    call expect(error == MPI_ERR_COMM, "a null communicator")
    call WISP_Bcast(value, -1, MPI_INTEGER, 0, comm, error)
    call expect(error == MPI_ERR_COUNT, "a negative count")
    call WISP_Bcast(value, 1, MPI_DATATYPE_NULL, 0, comm, error)
    call expect(error == MPI_ERR_TYPE, "a null datatype")
  end subroutine
end module

program test_of_module
  use expectations
  implicit none
  call MPI_Init()
  call WISP_Comm_duplicate(MPI_COMM_WORLD, comm)
  call WISP_Comm_rank(comm, rank)
  call WISP_Comm_size(comm, ranks)
  call run(communicators, "communicators")
  call run(broadcasts, "broadcasts")
  call run(reductions, "reductions")
  call run(blocks, "blocks")
  call run(messages, "messages")
  call run(neighbors, "neighbors")
  call run(splits, "splits")
  call run(exchanges, "exchanges")
  call run(precisions, "precisions")
  call run(errors, "errors")
  call WISP_Comm_free(comm)
  call MPI_Finalize()
  if (failures > 0) error stop
end program
