/* The version of these headers, for C and C++. CMakeLists.txt reads it here. */
#ifndef WISP_VERSION_H
#define WISP_VERSION_H

#define WISP_VERSION_MAJOR 0
#define WISP_VERSION_MINOR 2
#define WISP_VERSION_PATCH 0
#define WISP_VERSION "0.2.0"

#endif
