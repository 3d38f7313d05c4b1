# The Fortran module: interfaces that a script makes of the C headers, and a library between them and C.

include(CheckLanguage)
check_language(Fortran)
find_package(Python3 3.9 COMPONENTS Interpreter)
if(NOT CMAKE_Fortran_COMPILER OR NOT Python3_FOUND)
  message(STATUS "wisp: no Fortran module: there is no Fortran compiler, or no Python 3.9")
  return()
endif()
enable_language(Fortran)
wisp_find_beside_mpicxx(MPI_Fortran_COMPILER mpif90)
if(NOT MPI_Fortran_COMPILER AND MPI_CXX_COMPILER MATCHES "mpicxx")
  message(STATUS "wisp: no Fortran module: there is no mpif90 beside ${MPI_CXX_COMPILER}")
  return()
endif()
find_package(MPI COMPONENTS Fortran)
if(NOT MPI_Fortran_HAVE_F08_MODULE)
  message(STATUS "wisp: no Fortran module: the MPI has no mpi_f08 for ${CMAKE_Fortran_COMPILER}")
  return()
endif()

set(made ${PROJECT_BINARY_DIR}/fortran)
set(modules ${PROJECT_BINARY_DIR}/fortran/modules)
set(script ${PROJECT_SOURCE_DIR}/scripts/faces_of_fortran.py)
set(headers wisp.h neighborhood.h chain.h)
list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/include/wisp/)
add_custom_command(OUTPUT ${made}/interfaces.inc ${made}/procedures.inc ${made}/calls.inc DEPENDS ${script} ${headers} VERBATIM
  COMMAND ${Python3_EXECUTABLE} -B ${script} ${made})
# Apart, as wrappers of Fortran have options that no compiler of C++ takes.
add_library(wisp_fortran_calls OBJECT src/fortran/calls.cpp src/fortran/subarray.cpp ${made}/calls.inc)
set_property(SOURCE src/fortran/calls.cpp PROPERTY OBJECT_DEPENDS ${made}/calls.inc)
set_target_properties(wisp_fortran_calls PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(wisp_fortran_calls PRIVATE src ${made}
  $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(wisp_fortran_calls PRIVATE wisp wisp_options)

add_library(wisp_fortran STATIC src/fortran/wisp.f90 ${made}/interfaces.inc $<TARGET_OBJECTS:wisp_fortran_calls>)
set_property(SOURCE src/fortran/wisp.f90 PROPERTY OBJECT_DEPENDS "${made}/interfaces.inc;${made}/procedures.inc")
set_target_properties(wisp_fortran PROPERTIES EXPORT_NAME fortran POSITION_INDEPENDENT_CODE ON
  LINKER_LANGUAGE CXX Fortran_MODULE_DIRECTORY ${modules})
add_library(wisp::fortran ALIAS wisp_fortran)
target_include_directories(wisp_fortran PRIVATE ${made}
  PUBLIC $<BUILD_INTERFACE:${modules}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_LIBDIR}/wisp/modules>)
# GNU's compiler takes default integers and logicals, which are C's here as in mpi_f08, for others.
target_compile_options(wisp_fortran PRIVATE $<$<Fortran_COMPILER_ID:GNU>:-Wall -Wno-c-binding-type>)
target_link_libraries(wisp_fortran PUBLIC wisp $<BUILD_INTERFACE:MPI::MPI_Fortran>)
install(TARGETS wisp_fortran EXPORT wisp-fortran-targets)
install(EXPORT wisp-fortran-targets NAMESPACE wisp:: DESTINATION ${package_folder})
install(FILES ${modules}/wisp.mod DESTINATION ${CMAKE_INSTALL_LIBDIR}/wisp/modules)
configure_file(cmake/wisp-fortran.pc.in wisp-fortran.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/wisp-fortran.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
