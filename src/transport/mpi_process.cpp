#include "transport/mpi_process.hpp"

#include <mutex>

#include "transport/errors_return.hpp"
#include "transport/mpi_group.hpp"
#include "transport/throw_error.hpp"
#include "wisp/error.hpp"

namespace wisp::detail {

bool has_mpi_world() noexcept {
  int initialized = 0;
  MPI_Initialized(&initialized);
  return initialized != 0 && !is_finalized();
}

bool is_finalized() noexcept {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

namespace {

[[noreturn]] void throw_not_running(const char* call) {
  throw_error(MPI_ERR_OTHER, "{}: MPI is not running (between MPI_Init and MPI_Finalize)", call);
}

}  // namespace

void check_mpi_runs(const char* call) {
  if (!mpi_has_sessions && !has_mpi_world()) throw_not_running(call);
}

void check_comm(MPI_Comm comm, const char* call, const char* name) {
  const bool may_be_of_session = mpi_has_sessions && comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF;
  if (!has_mpi_world() && !may_be_of_session) throw_not_running(call);
  if (comm == MPI_COMM_NULL) throw_error(MPI_ERR_COMM, "{}: {} = MPI_COMM_NULL", call, name);
  int is_inter = 0;
  check_mpi(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
  if (is_inter != 0) throw_error(MPI_ERR_COMM, "{}: {} is an intercommunicator", call, name);
}

ErrorsReturn::ErrorsReturn(MPI_Comm comm) : comm_(comm) {
  MPI_Comm_get_errhandler(comm_, &handler_);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}
ErrorsReturn::~ErrorsReturn() {
  MPI_Comm_set_errhandler(comm_, handler_);
  if (handler_ != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&handler_);
}

struct SelfComm::Own {
  Own() {
    if (!has_mpi_world()) {
      make_session();
      return;
    }
    // Not a duplicate: that has the program's attributes copied.
    check_mpi(MPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm), "MPI_Comm_split");
    check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;

  MPI_Comm comm = MPI_COMM_NULL;

#ifdef MPI_SESSION_NULL
  ~Own() {
    if (session != MPI_SESSION_NULL || has_mpi_world()) MPI_Comm_free(&comm);
    if (session != MPI_SESSION_NULL) MPI_Session_finalize(&session);
  }
  void make_session() {
    check_mpi(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "MPI_Session_init");
    OwnedGroup self;
    check_mpi(MPI_Group_from_session_pset(session, "mpi://SELF", self.put()), "MPI_Group_from_session_pset");
    check_mpi(MPI_Comm_create_from_group(self.get(), "wisp", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
              "MPI_Comm_create_from_group");
  }

  MPI_Session session = MPI_SESSION_NULL;
#else
  ~Own() {
    if (has_mpi_world()) MPI_Comm_free(&comm);
  }
  void make_session() {}
#endif
};

SelfComm::SelfComm() {
  static std::mutex mutex;
  static std::weak_ptr<Own> latest;
  const std::lock_guard lock(mutex);
  own_ = latest.lock();
  if (own_) return;
  latest = own_ = std::make_shared<Own>();
  struct Kept {
    std::shared_ptr<Own> own;
    void close() noexcept { own.reset(); }
  };
  if (has_mpi_world()) of_process<Kept>([this] { return std::make_shared<Kept>(Kept{own_}); });
}

MPI_Comm SelfComm::get() const noexcept {
  return own_->comm;
}

}  // namespace wisp::detail
