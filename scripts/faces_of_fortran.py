#!/usr/bin/env python3
"""Makes Fortran's faces of the functions of C headers: interfaces for the module, and what lies between them and C.

usage: faces_of_fortran.py FOLDER     (writes interfaces.inc, procedures.inc and calls.inc into it)

Every `int WISP_Name(…);` of HEADERS becomes a subroutine of the same name, with an optional `ierror` at its end; where
there is a form with _c, or C has large counts alone, two forms have one generic name, told apart by the kind of the
counts. Functions that need C's
pointers to functions or its strings are left out.
"""
import pathlib
import re
import sys

HEADERS = ("include/wisp/wisp.h", "include/wisp/neighborhood.h", "include/wisp/chain.h")
MADE = "Made by scripts/faces_of_fortran.py from the functions of wisp.h, neighborhood.h and chain.h."
PROTOTYPE = re.compile(r"^int (WISP_\w+)\(([^;]*)\);", re.MULTILINE)
NOT_OF_FORTRAN = ("WISP_Merge", "char*")
OWN_HANDLES = ("Comm", "Request", "Arrivals", "Neighborhood", "Chain")
MPI_HANDLES = ("Comm", "Group", "Datatype", "Op", "Info")
ARRAYS = ("statuses",)
LABELS = ("color", "key")  # of a split, with a type of C
AT_ROOT = {"gather": "recvbuf", "scatter": "sendbuf", "reduce": "recvbuf"}  # what the root alone looks at
OPTIONAL = ("periods", "weights", "sources", "targets", "offsets", "radii")  # NULL in C
# A count, and a buffer of that many elements for each rank or neighbor.
BLOCKS = re.compile(r"(?:gather|alltoall|Allgather|Gather|Alltoall)(?:_init)?(?:_c)?(?:_range)?$")
BLOCKS_SENT = re.compile(r"(?:scatter|alltoall|Scatter|Alltoall)(?:_init)?(?:_c)?(?:_range)?$")


class Parameter:
    def __init__(self, text):
        match = re.fullmatch(r"(const )?(\w+)(\**) ?(?:const )?(\w+)(\[\])?", " ".join(text.split()).replace(" *", "*"))
        self.is_const = match[1] is not None
        self.type, self.stars, self.name = match[2], len(match[3]), match[4]
        self.is_array = match[5] is not None or self.name in ARRAYS

    def is_buffer(self):
        return self.type == "void" and self.stars == 1


def is_started(name):
    return re.match(r"WISP_(Chain_)?[Ii](?!nit)\w", name) is not None or name.endswith(("_init", "_init_c"))


class Function:
    def __init__(self, name, parameters):
        self.name = name
        self.parameters = [Parameter(one) for one in parameters.split(",")]
        self.called = name  # in C
        self.joins = any(one.type == "MPI_Op" for one in self.parameters)

    def of_buffer(self, buffer):
        """The count and the datatype of a buffer, where it has one of each."""
        behind = self.parameters[self.parameters.index(buffer) + 1:]
        count = next((one for one in behind if "count" in one.name and one.type in ("int", "MPI_Count")), None)
        kind = next((one for one in behind if one.type == "MPI_Datatype"), None)
        between = [one for one in behind if one.is_buffer()]
        is_own = not between or (count and behind.index(count) < behind.index(between[0]))
        if self.joins or buffer.name in LABELS or count is None or kind is None or count.is_array or kind.is_array or not is_own:
            return None
        if between and behind.index(kind) > behind.index(between[0]):
            return None
        return count, kind

    def is_of_blocks(self, buffer):
        if buffer.name == "recvbuf":
            return BLOCKS.search(self.name) is not None
        return buffer.name == "sendbuf" and BLOCKS_SENT.search(self.name) is not None

    def at_root(self, buffer):
        """For a buffer of the root alone: whether this rank is it."""
        kind = re.sub(r"^WISP_(Chain_)?[Ii]?|(_init|_range|_c)+$|v(?=_|$)", "", self.name).lower()
        if AT_ROOT.get(re.sub(r"v$", "", kind)) != buffer.name or not any(one.name == "root" for one in self.parameters):
            return ""
        on = next(one.name for one in self.parameters if one.type in ("WISP_Comm", "WISP_Chain"))
        first = ", *first" if self.name.endswith("_range") else ""
        return f", is_root(*{on}, *root{first})"

    def fortran(self, one):
        """The declaration of a parameter in Fortran."""
        if one.is_buffer():
            attributes = "type(*), dimension(..)" + (", intent(in)" if one.is_const else "")
            if is_started(self.name):
                attributes += ", asynchronous"
            return f"{attributes} :: {one.name}"
        if one.type == "void":
            return f"type(c_ptr), intent(out) :: {one.name}"
        spelled = {"int": "integer(c_int)", "MPI_Count": "integer(MPI_COUNT_KIND)", "MPI_Aint": "integer(MPI_ADDRESS_KIND)",
                   "uint64_t": "integer(c_int64_t)"}.get(one.type, f"type({one.type})")
        reads = (not one.stars and not one.is_array) or one.is_const
        intent = ", intent(in)" if reads else "" if one.type == "MPI_Status" else ", intent(inout)"
        optional = ", optional" if one.name in OPTIONAL else ""
        return f"{spelled}{intent}{optional} :: {one.name}{'(*)' if one.is_array else ''}"

    def imports(self):
        names = sorted({one.type for one in self.parameters if one.type.startswith(("WISP_", "MPI_"))}
                       - {"MPI_Count", "MPI_Aint", "WISP_Order"})
        names += [kind for c, kind in (("MPI_Count", "MPI_COUNT_KIND"), ("MPI_Aint", "MPI_ADDRESS_KIND"))
                  if any(one.type == c for one in self.parameters)]
        if any(one.type == "void" and one.stars == 2 for one in self.parameters):
            names.append("c_ptr")
        return f"      import :: {', '.join(['c_int', *names])}\n"

    def has_flag(self):
        return any(one.name == "flag" for one in self.parameters)

    def procedure(self):
        """Of a function with a flag: logicals are no type of C."""
        names = [one.name for one in self.parameters] + ["ierror"]
        declared = "".join(f"    {self.fortran(one)}\n" for one in self.parameters if one.name != "flag")
        given = ", ".join("flag_of_c" if name == "flag" else name for name in names)
        return (f"  subroutine {self.name}({', '.join(names)})\n{declared}    logical, intent(out) :: flag\n"
                f"    integer(c_int), intent(out), optional :: ierror\n    integer(c_int) :: flag_of_c\n"
                f"    flag_of_c = 0\n    call {self.name}_of_c({given})\n    flag = flag_of_c /= 0\n  end subroutine\n")

    def interface(self, is_one_of_two):
        given = [one for one in self.parameters if one.type != "WISP_Order"]
        names = ", ".join([one.name for one in given] + ["ierror"])
        lines = "".join(f"      {self.fortran(one)}\n" for one in given)
        specific = self.name + "_i" if is_one_of_two and not self.name.endswith("_c") else self.name
        specific += "_of_c" if self.has_flag() else ""
        head = f"    subroutine {specific}({names}) &\n"
        return (f"{broken(head)}        bind(C, name=\"wisp_fortran_{self.name[5:]}\")\n{self.imports()}{lines}"
                f"      integer(c_int), intent(out), optional :: ierror\n    end subroutine\n")

    def c_parameter(self, one):
        if one.is_buffer():
            return f"CFI_cdesc_t* {one.name}"
        if one.type == "MPI_Status":
            return f"void* {one.name}"
        kind = one.type
        if kind.startswith("MPI_") and kind[4:] in MPI_HANDLES:
            kind = "MPI_Fint"
        if one.type == "void":
            return f"const void** {one.name}"
        reads = (not one.stars and not one.is_array) or one.is_const
        return f"{'const ' if reads else ''}{kind}* {one.name}"

    def argument(self, one, before):
        """What the function of C gets; what must be made for it first is put into `before`."""
        own = f"{one.name}_of_c"
        if one.type == "WISP_Order":
            return "nullptr"
        if one.is_buffer():
            pair = self.of_buffer(one)
            if pair is None:
                # Not the attribute of Fortran: GNU's compilers lose where a component of a derived type begins.
                copies = "none" if is_started(self.name) else "read" if one.is_const else "written"
                before.append(f"const Contiguous {own}({one.name}, \"{one.name}\", Copies::{copies}{self.at_root(one)});")
                count = next((other.name for other in self.parameters if other.name in ("count", "recvcount")), None)
                if count and one.name not in LABELS and any(other.name == "datatype" for other in self.parameters):
                    before.append(f"{own}.check_room(*{count}, *datatype);")
                return f"{own}.address()"
            role = "Role::blocks" if self.is_of_blocks(one) else "Role::whole"
            before.append(f"const Elements {own}({one.name}, *{pair[0].name}, *{pair[1].name}, {role}, \"{one.name}\"{self.at_root(one)});")
            return f"{own}.address()"
        for buffer in self.parameters:
            pair = self.of_buffer(buffer) if buffer.is_buffer() else None
            if pair and one in pair:
                return f"{buffer.name}_of_c.{'count' if one is pair[0] else 'type'}()"
        if one.type == "MPI_Status":
            count = next((other.name for other in self.parameters if other.name in ("count", "incount")), None)
            before.append(f"const Statuses {own}({one.name}, {'*' + count if one.is_array else '1'}, {str(one.is_array).lower()});")
            return f"{own}.of_c()"
        if one.type == "MPI_Datatype" and one.is_array:
            before.append(f"const Datatypes {own}({one.name}, {self.datatypes(one)});")
            return f"{own}.of_c()"
        if one.type.startswith("MPI_") and one.type[4:] in MPI_HANDLES:
            kind = {"Datatype": "Type"}.get(one.type[4:], one.type[4:])
            if not one.stars:
                return f"MPI_{kind}_f2c(*{one.name})"
            make = f"[](MPI_{kind} of) {{ return MPI_{kind}_c2f(of); }}"  # a macro with some MPIs
            before.append(f"Made {own}({one.name}, MPI_{kind.upper()}_NULL, {make});")
            return f"{own}.of_c()"
        if one.name in ("index", "indices") and not one.is_const:
            before.append(f"const FromOne {own}({one.name}{', outcount' if one.is_array else ''});")
            return one.name
        if one.name == "i" and not one.stars:
            before.append("check_index(*arrivals, *i);")
            return "*i - 1"
        return one.name if one.stars or one.is_array else f"*{one.name}"

    def datatypes(self, one):
        """How many there are: of ranks or neighbors; none where they do not count."""
        buffer = f"{one.name.removesuffix('types')}buf_of_c"
        on = next(other for other in self.parameters if other.type in ("WISP_Comm", "WISP_Neighborhood"))
        if on.type == "WISP_Neighborhood":
            return f"degree(*{on.name}, Side::{'sent' if one.name.startswith('send') else 'received'})"
        ranks = f"size_of(*{on.name}, *first, *last)" if self.name.endswith("_range") else f"size_of(*{on.name})"
        return f"{buffer}.address() == MPI_IN_PLACE ? 0 : {ranks}"

    def shim(self):
        before = []
        arguments = [self.argument(one, before) for one in self.parameters]
        taken = [self.c_parameter(one) for one in self.parameters if one.type != "WISP_Order"] + ["int* ierror"]
        lines = "".join(f"    {line}\n" for line in before)
        return (f"void wisp_fortran_{self.name[5:]}({', '.join(taken)}) {{\n"
                f"  end(ierror, \"{self.called}\", [&] {{\n{lines}    return {self.called}({', '.join(arguments)});\n  }});\n}}\n")


def type_of(handle):
    return (f"  type, bind(C) :: WISP_{handle}\n    type(c_ptr) :: handle = c_null_ptr\n  end type\n"
            f"  interface operator(==)\n    module procedure same_{handle}\n  end interface\n"
            f"  interface operator(/=)\n    module procedure differ_{handle}\n  end interface\n")


def comparison_of(handle):
    return (f"  elemental function same_{handle}(a, b) result(same)\n    type(WISP_{handle}), intent(in) :: a, b\n"
            "    logical :: same\n    same = transfer(a%handle, 0_c_intptr_t) == transfer(b%handle, 0_c_intptr_t)\n"
            "  end function\n"
            f"  elemental function differ_{handle}(a, b) result(differ)\n    type(WISP_{handle}), intent(in) :: a, b\n"
            "    logical :: differ\n    differ = .not. a == b\n  end function\n")


def broken(line, width=120):
    """A line of Fortran, continued where it is long."""
    if len(line) <= width:
        return line
    at = line.rindex(", ", 0, width) + 2
    return line[:at] + "&\n" + broken("        " + line[at:])


def functions(root):
    for header in HEADERS:
        text = (root / header).read_text()
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        for name, parameters in PROTOTYPE.findall(text):
            parameters = " ".join(parameters.split())
            if any(word in parameters.replace(" *", "*") for word in NOT_OF_FORTRAN):
                continue
            if re.search(r"MPI_Count \w", parameters) and not name.endswith("_c"):
                large = Function(name + "_c", parameters)
                large.called = name
                yield large
                parameters = parameters.replace("MPI_Count", "int")
            yield Function(name, parameters)


def main():
    root, folder = pathlib.Path(__file__).resolve().parent.parent, pathlib.Path(sys.argv[1])
    of_c = list(functions(root))
    interfaces = [f"! {MADE}\n", *map(type_of, OWN_HANDLES)]
    for one in of_c:
        if not one.name.endswith("_c"):
            forms = [one] + [other for other in of_c if other.name == one.name + "_c"]
            bodies = "".join(form.interface(len(forms) > 1) for form in forms)
            # A generic name asks for arrays of one rank exactly: only where there are two.
            name = f" {one.name}" if len(forms) > 1 else ""
            interfaces.append(f"  interface{name}\n{bodies}  end interface\n")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "interfaces.inc").write_text("".join(interfaces))
    procedures = [*map(comparison_of, OWN_HANDLES), *(one.procedure() for one in of_c if one.has_flag())]
    (folder / "procedures.inc").write_text(f"! {MADE}\n" + "\n".join(procedures))
    (folder / "calls.inc").write_text(f"// {MADE}\n\n" + "\n".join(one.shim() for one in of_c))


if __name__ == "__main__":
    main()
