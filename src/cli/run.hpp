#pragma once

namespace wisp::cli {

/// wisp run, before MPI begins: the program that takes this process's place begins it.
int run_preloaded(int argc, char** argv);

}  // namespace wisp::cli
