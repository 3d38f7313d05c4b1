#pragma once

#include <functional>
#include <string>
#include <vector>

#include "random/program.hpp"
#include "wisp/comm.hpp"

namespace wisp::test {

/// What one rank of a program does; `can_block`: on real ranks. `failures` hears what is wrong.
Task<> run_program(const Program& program, Comm root, bool can_block, std::vector<std::string>& failures);

/// A program that fails, with as few operations and communicators as still do; `fails` runs one.
Program shrunk(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace wisp::test
