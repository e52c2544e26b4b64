"""Where a key lives, for Python: libslipring_c by ctypes.

The library is found as SLIPRING_LIBRARY says, else as libslipring_c.so.1 on the loader's path. Keys are bytes, or text,
which counts as UTF-8. Look-ups may run in several threads; close a handle when no other thread uses it.
"""
import ctypes
import os
from collections import namedtuple

ABI_VERSION = 1
NO_NODE = 0xFFFFFFFF

Location = namedtuple("Location", "node address source target epoch")
Explanation = namedtuple("Explanation", "point range")


class Error(Exception):
    """A refused call; `code` is gRPC's canonical number."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class _Location(ctypes.Structure):
    _fields_ = [("node", ctypes.c_char_p), ("address", ctypes.c_char_p), ("source", ctypes.c_char_p),
                ("target", ctypes.c_char_p), ("epoch", ctypes.c_uint64)]


class _Member(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("label", ctypes.c_char_p), ("zone", ctypes.c_char_p),
                ("weight_milli", ctypes.c_int64), ("attributes", ctypes.POINTER(ctypes.c_char_p))]


def _load():
    library = ctypes.CDLL(os.environ.get("SLIPRING_LIBRARY", "libslipring_c.so.1"))
    handle, size, text = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
    sized = [ctypes.c_char_p, size]
    texts = ctypes.POINTER(ctypes.c_char_p)
    signatures = {
        "abi_version": (ctypes.c_uint32, []),
        "last_error": (text, []),
        "snapshot_open": (ctypes.c_int, [text, ctypes.POINTER(handle)]),
        "snapshot_close": (None, [handle]),
        "snapshot_epoch": (ctypes.c_uint64, [handle]),
        "snapshot_pool_count": (size, [handle]),
        "snapshot_pool_name": (text, [handle, size]),
        "snapshot_find_pool": (ctypes.c_int, [handle, text, ctypes.POINTER(size)]),
        "snapshot_locate": (ctypes.c_int, [handle, size, *sized, ctypes.POINTER(_Location)]),
        "snapshot_explain": (ctypes.c_int, [handle, size, *sized, *sized, *sized]),
        "placement_new": (ctypes.c_int, [text, texts, ctypes.POINTER(_Member), size, ctypes.POINTER(handle)]),
        "placement_free": (None, [handle]),
        "placement_owner": (ctypes.c_uint32, [handle, *sized]),
        "placement_list": (size, [handle, *sized, ctypes.POINTER(ctypes.c_uint32), size]),
        "placement_explain": (ctypes.c_int, [handle, *sized, *sized, *sized]),
    }
    functions = {}
    for name, (result, arguments) in signatures.items():
        function = getattr(library, "slipring_" + name)
        function.restype, function.argtypes = result, arguments
        functions[name] = function
    if functions["abi_version"]() != ABI_VERSION:
        raise ImportError("libslipring_c has another ABI version")
    return functions


_c = _load()


def _check(code):
    if code != 0:
        raise Error(code, _c["last_error"]().decode("utf-8", "replace"))


def _bytes(key):
    return key.encode() if isinstance(key, str) else bytes(key)


def _text(value):
    return None if value is None else value.decode()


def _texts(values):
    """A NULL-terminated array of "name=value" from a dict."""
    pairs = [f"{name}={value}".encode() for name, value in values.items()]
    return (ctypes.c_char_p * (len(pairs) + 1))(*pairs, None)


class _Handle:
    _free = None

    def __init__(self):
        self._handle = ctypes.c_void_p()

    def close(self):
        handle, self._handle = self._handle, ctypes.c_void_p()
        _c[self._free](handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()

    def _explain(self, function, *where):
        point, span = ctypes.create_string_buffer(256), ctypes.create_string_buffer(256)
        _check(_c[function](self._open(), *where, point, len(point), span, len(span)))
        return Explanation(point.value.decode(), span.value.decode())

    def _open(self):
        if not self._handle:
            raise ValueError("closed")
        return self._handle


class Snapshot(_Handle):
    """The topology of one epoch, from DIR/router-ID.snapshot of a router or what `slipring topology export` wrote."""

    _free = "snapshot_close"

    def __init__(self, path):
        super().__init__()
        _check(_c["snapshot_open"](os.fsencode(path), ctypes.byref(self._handle)))

    @property
    def epoch(self):
        return _c["snapshot_epoch"](self._open())

    @property
    def pools(self):
        return [_c["snapshot_pool_name"](self._open(), i).decode()
                for i in range(_c["snapshot_pool_count"](self._open()))]

    def locate(self, key, pool=None):
        """Who serves the key; source and target are None unless a plan moves it. `pool` None: the only one."""
        key, found = _bytes(key), _Location()
        _check(_c["snapshot_locate"](self._open(), self._pool(pool), key, len(key), ctypes.byref(found)))
        return Location(_text(found.node), _text(found.address), _text(found.source), _text(found.target), found.epoch)

    def explain(self, key, pool=None):
        """The key's point and range under the placement of the node that serves it."""
        key = _bytes(key)
        return self._explain("snapshot_explain", self._pool(pool), key, len(key))

    def _pool(self, name):
        index = ctypes.c_size_t()
        _check(_c["snapshot_find_pool"](self._open(), None if name is None else name.encode(), ctypes.byref(index)))
        return index.value


class Placement(_Handle):
    """A placement made in the program. Members are dicts: name, and maybe label, zone, weight (a number with at most
    three places), attributes (a dict). Options are a dict."""

    _free = "placement_free"

    def __init__(self, scheme, members, options=None):
        super().__init__()
        self._names = [member["name"] for member in members]
        array = (_Member * len(members))()
        for slot, member in zip(array, members):
            slot.name = member["name"].encode()
            slot.label = member["label"].encode() if "label" in member else None
            slot.zone = member["zone"].encode() if "zone" in member else None
            slot.weight_milli = round(member.get("weight", 1) * 1000)
            slot.attributes = _texts(member.get("attributes", {}))
        _check(_c["placement_new"](scheme.encode(), _texts(options or {}), array, len(members),
                                   ctypes.byref(self._handle)))

    def owner(self, key):
        """The name of the key's node; None if none owns anything."""
        key = _bytes(key)
        index = _c["placement_owner"](self._open(), key, len(key))
        return None if index == NO_NODE else self._names[index]

    def preference_list(self, key, replicas):
        key, nodes = _bytes(key), (ctypes.c_uint32 * replicas)()
        count = _c["placement_list"](self._open(), key, len(key), nodes, replicas)
        return [self._names[i] for i in nodes[:count]]

    def explain(self, key):
        key = _bytes(key)
        return self._explain("placement_explain", key, len(key))
