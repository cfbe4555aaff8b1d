"""launches.py KERNELS.cu: translates CUDA C++ to C++ for emulated devices, on standard output.

CUDA's own syntax becomes calls of launch.h: launches, addresses of kernels, dynamic shared memory.
Line numbers do not change.
"""

import re
import sys


def kernel_before(text, end):
    """Begin and end of the name of the kernel that ends before `end`."""
    while text[end - 1].isspace():
        end -= 1
    begin = end
    if text[end - 1] == ">":
        depth = 0
        while depth != 0 or begin == end:
            begin -= 1
            depth += {">": 1, "<": -1}.get(text[begin], 0)
    while re.match(r"[\w:]", text[begin - 1]):
        begin -= 1
    return begin, end


def launches(text):
    while (at := text.find("<<<")) >= 0:
        begin, end = kernel_before(text, at)
        close = text.index(">>>", at)
        kernel = text[begin:end]
        name = " ".join(kernel.split())
        call = f'emulated::launcher("{name}", {text[at + 3 : close]})'
        if kernel.endswith(">"):
            call += f".of({kernel})"
        else:  # template arguments may be deduced
            call += f".with([=](auto... all) {{ {kernel}(all...); }})"
        text = text[:begin] + call + text[end:at] + text[close + 3 :]
    return text


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = launches(file.read())
    text = text.replace("reinterpret_cast<const void *>(", "emulated::kernel(")
    text = re.sub(
        r"extern __shared__ (\w+) (\w+)\[\];",
        r"\1 *\2 = static_cast<\1 *>(emulated::dynamic_shared());",
        text,
    )
    print(f'#line 1 "{sys.argv[1]}"')
    print(text, end="")


main()
