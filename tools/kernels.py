"""Names of CUDA kernels, as c++filt and Nsight Compute print them."""
import fnmatch
import re

# Kernels that run when a simulation starts, stops or writes; every other one is hot.
COLD = ("*load*", "*stored*", "get_*", "hash_*")

# Kernels of `larmor bench` that are made with too few registers, to be measured.
MAY_SPILL = ("capped_kernel*",)


def may_spill(name):
    return any(fnmatch.fnmatch(name, pattern) for pattern in MAY_SPILL)


def is_hot(name):
    return not any(fnmatch.fnmatch(name, pattern) for pattern in COLD)


def short_name(signature, limit=48):
    """Name and template arguments, without return type, namespaces, casts and parameters."""
    name = re.sub(r"\((int|unsigned int|bool)\)", "", signature)
    name = re.sub(r"(\(anonymous namespace\)|<unnamed>|\b\w+)::", "", name)
    name = re.sub(r"\(.*", "", name)
    head, opened, arguments = name.partition("<")
    name = head.split()[-1] + opened + arguments
    return name if len(name) <= limit else name[:limit - 3] + "..."
