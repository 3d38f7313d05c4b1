/* A program in C that knows nothing of MPI, and loads what does for itself alone, as Python and others do. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (plugin == NULL) {
    puts(dlerror());
    return 1;
  }
  void (*run)(void) = NULL;
  *(void**)&run = dlsym(plugin, "run_plugin");
  run();
  return 0;
}
