"""`dataclass` and `field` for the modules that a query loads: frozen, with slots, and made without `dataclasses`.

That module brings `inspect` and more, which costs as much CPU as Python's own start, and a query asked from a shell
starts Python each time. A type checker sees the real ones; `dataclasses.replace`, `fields` and `asdict` work.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass, field
else:

    class _Factory:
        __slots__ = ("make",)

        def __init__(self, make):
            self.make = make

    def field(*, default_factory):
        """A field whose default is made anew for each record."""
        return _Factory(default_factory)

    def dataclass(*, frozen, slots, kw_only=False):
        """Makes a class a frozen record with slots; nothing else is offered."""
        if not (frozen and slots):
            raise TypeError("only frozen records with slots are light")

        def decorate(cls):
            names = tuple(cls.__annotations__)
            defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
            kept = {name: value for name, value in cls.__dict__.items() if name not in (*defaults, *_REPLACED)}
            made = type(cls)(cls.__name__, cls.__bases__, {**_METHODS, **kept, "__slots__": names})
            made.__qualname__ = cls.__qualname__
            made.__match_args__ = () if kw_only else names
            made.__init__ = _init(made, names, defaults, kw_only)
            made.__dataclass_fields__ = _Fields(names, defaults, kw_only)
            return made

        return decorate

    _REPLACED = ("__dict__", "__weakref__")
    _ABSENT = object()

    def _init(cls, names, defaults, kw_only):
        known = {f"set_{name}": cls.__dict__[name].__set__ for name in names}
        parameters, body = [], []
        for name in names:
            default = defaults.get(name, _ABSENT)
            if default is _ABSENT:
                parameters.append(name)
            else:
                parameters.append(f"{name}=default_{name}")
                known[f"default_{name}"] = default
            if isinstance(default, _Factory):
                body.append(f"if {name} is default_{name}: {name} = default_{name}.make()")
            body.append(f"set_{name}(self, {name})")
        if hasattr(cls, "__post_init__"):
            body.append("self.__post_init__()")
        star = "*, " if kw_only else ""
        lines = "\n ".join(body)
        exec(f"def __init__(self, {star}{', '.join(parameters)}):\n {lines}", known)
        known["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
        return known["__init__"]

    def _values(self):
        return tuple(getattr(self, name) for name in self.__slots__)

    def _repr(self):
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__qualname__}({shown})"

    def _equal(self, other):
        return _values(self) == _values(other) if type(other) is type(self) else NotImplemented

    def _hash(self):
        return hash(_values(self))

    def _refuse(self, name, *_value):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot change {name!r} of a record")

    def _set_state(self, state):
        for name, value in zip(self.__slots__, state, strict=True):
            object.__setattr__(self, name, value)

    _METHODS = {
        "__repr__": _repr,
        "__eq__": _equal,
        "__hash__": _hash,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__getstate__": _values,
        "__setstate__": _set_state,
    }

    class _Fields:
        """What `dataclasses` needs to know of a record, made when it is asked for."""

        def __init__(self, names, defaults, kw_only):
            self._arguments = (names, defaults, kw_only)
            self._made = None

        def __get__(self, instance, owner):
            if self._made is None:
                import dataclasses

                names, defaults, kw_only = self._arguments
                described = []
                for name in names:
                    default = defaults.get(name, dataclasses.MISSING)
                    if isinstance(default, _Factory):
                        described.append((name, object, dataclasses.field(default_factory=default.make)))
                    else:
                        described.append((name, object, dataclasses.field(default=default)))
                twin = dataclasses.make_dataclass(owner.__name__, described, kw_only=kw_only)
                self._made = twin.__dataclass_fields__
            return self._made


__all__ = ["dataclass", "field"]
