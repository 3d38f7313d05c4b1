// A program that loads several copies of such a plugin, calls each in a thread that ends, and unloads them
// before MPI_Finalize.
//   host PLUGIN

#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace {

int fail(const std::string& what) {
  std::fprintf(stderr, "host: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int copies = 6;
  int level = 0, rank = 0, size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 2) return fail("host PLUGIN");
  std::vector<void*> loaded;
  std::vector<std::string> files;
  for (int i = 0; i < copies; ++i) {
    files.push_back(std::string(argv[1]) + "." + std::to_string(rank) + "." + std::to_string(i));
    std::filesystem::copy_file(argv[1], files.back(), std::filesystem::copy_options::overwrite_existing);
    loaded.push_back(dlopen(files.back().c_str(), RTLD_NOW | RTLD_LOCAL));
    if (loaded.back() == nullptr) return fail(dlerror());
  }
  for (void* plugin : loaded) {
    auto* const sum_of_ranks = reinterpret_cast<int (*)(MPI_Comm)>(dlsym(plugin, "sum_of_ranks"));
    if (sum_of_ranks == nullptr) return fail(dlerror());
    int sum = -1;
    const auto call = [&] { sum = sum_of_ranks(MPI_COMM_WORLD); };
    if (level == MPI_THREAD_MULTIPLE) {
      std::thread(call).join();
    } else {
      call();
    }
    if (sum != size * (size - 1) / 2) return fail("the sum is " + std::to_string(sum));
    dlclose(plugin);
  }
  for (const std::string& file : files) std::filesystem::remove(file);
  MPI_Finalize();
  return 0;
}
