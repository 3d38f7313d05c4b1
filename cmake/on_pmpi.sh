#!/bin/sh
# An archive of objects in which the functions of MPI that they call have their names of PMPI.
#   on_pmpi.sh AR NM OBJCOPY ARCHIVE OBJECT…
set -eu
ar=$1 nm=$2 objcopy=$3 archive=$4
shift 4
rm -f "$archive"
"$ar" rcs "$archive" "$@"
"$nm" -u "$archive" | sed -n 's/^ *U \(MPI_[A-Z][a-z][A-Za-z_]*\)$/\1 P\1/p' | sort -u >"$archive.names"
"$objcopy" --redefine-syms="$archive.names" "$archive"
rm -f "$archive.names"
