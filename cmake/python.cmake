# The Python package: an extension for the kind of MPI that is built with, beside the modules of python/wisp.

if(NOT wisp_mpi_kind)
  message(FATAL_ERROR "wisp: the Python package knows Open MPI, MPICH and its relatives, and the standard ABI of MPI 5")
endif()

# The stable ABI, where there is one that nanobind can take: from 3.12 on.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT
  OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE no_nanobind)
if(no_nanobind)
  message(FATAL_ERROR "wisp: the Python package needs nanobind: ${Python_EXECUTABLE} -m pip install nanobind")
endif()
find_package(nanobind CONFIG REQUIRED)

file(GLOB python_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} src/python/*.cpp)
nanobind_add_module(wisp_python STABLE_ABI NB_STATIC NOMINSIZE NB_SUPPRESS_WARNINGS ${python_sources})
set_target_properties(wisp_python PROPERTIES OUTPUT_NAME _${wisp_mpi_kind}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/wisp BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "")
target_compile_definitions(wisp_python PRIVATE WISP_PYTHON_MODULE=_${wisp_mpi_kind})
# What is distributed names no folder of the machine that has built it.
target_compile_options(wisp_python PRIVATE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
target_compile_options(wisp PRIVATE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
target_include_directories(wisp_python PRIVATE src)
target_link_libraries(wisp_python PRIVATE wisp wisp_options MPI::MPI_CXX)
install(TARGETS wisp_python LIBRARY DESTINATION wisp COMPONENT python EXCLUDE_FROM_ALL)  # by pip

# To be used from here: PYTHONPATH=<build>/python.
file(GLOB modules CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/wisp/*.py ${PROJECT_SOURCE_DIR}/python/wisp/*.pyi
  ${PROJECT_SOURCE_DIR}/python/wisp/py.typed)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/python/wisp)
foreach(module IN LISTS modules)
  get_filename_component(name ${module} NAME)
  file(CREATE_LINK ${module} ${PROJECT_BINARY_DIR}/python/wisp/${name} SYMBOLIC)
endforeach()

# For tests: where mpi4py finds the MPI. Its wheels look for one by its usual name, which Debian's MPICH has not; for the
# standard ABI it has to be built.
set(WISP_MPI4PY "" CACHE PATH "The folder in which tests find mpi4py, if not that of Python")
if(WISP_BUILD_TESTS AND MPI_C_LIBRARIES)
  list(GET MPI_C_LIBRARIES 0 mpi_library)
  file(REAL_PATH ${mpi_library} mpi_library)
  foreach(version 12 40)  # that of a wheel is a script for the linker
    if(EXISTS ${mpi_library}.${version})
      set(mpi_library ${mpi_library}.${version})
    endif()
  endforeach()
  set(wisp_python_environment "PYTHONPATH=${PROJECT_BINARY_DIR}/python:${WISP_MPI4PY};MPI4PY_MPIABI=${wisp_mpi_kind};MPI4PY_LIBMPI=${mpi_library}")
  get_filename_component(folder ${mpi_library} DIRECTORY)
  if(wisp_mpi_kind STREQUAL mpich AND NOT EXISTS ${folder}/libmpi.so.12)
    set(folder ${PROJECT_BINARY_DIR}/mpi4py)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${mpi_library} ${folder}/libmpi.so.12 SYMBOLIC)
  endif()
  list(APPEND wisp_python_environment "LD_LIBRARY_PATH=${folder}")
endif()

# Extensions for other MPIs in the same wheel: their compilers, as in mpicxx.mpich.
set(WISP_PYTHON_ALSO "" CACHE STRING "Wrappers of C++ compilers of more MPIs to build the extension for")
include(ExternalProject)
foreach(wrapper IN LISTS WISP_PYTHON_ALSO)
  string(MAKE_C_IDENTIFIER ${wrapper} name)
  set(folder ${PROJECT_BINARY_DIR}/also/${name})
  ExternalProject_Add(wisp_python_${name} SOURCE_DIR ${PROJECT_SOURCE_DIR} BINARY_DIR ${folder}
    CMAKE_ARGS -DWISP_BUILD_PYTHON=ON -DWISP_BUILD_PROGRAM=OFF -DWISP_BUILD_TESTS=OFF -DWISP_BUILD_PRELOAD=OFF
      -DWISP_BUILD_FORTRAN=OFF -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} -DCMAKE_CXX_FLAGS_RELEASE=${CMAKE_CXX_FLAGS_RELEASE} -DPython_EXECUTABLE=${Python_EXECUTABLE}
      -DMPI_CXX_COMPILER=${wrapper} -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
      -Dfmt_DIR=${fmt_DIR} -DWISP_HIGHWAY=${WISP_HIGHWAY}
    INSTALL_COMMAND "")
  install(DIRECTORY ${folder}/python/wisp/ DESTINATION wisp COMPONENT python
    FILES_MATCHING PATTERN "_*.so")
endforeach()
