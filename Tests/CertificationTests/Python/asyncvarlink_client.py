"""A run of org.varlink.certification by the client of PyPI's asyncvarlink.

    asyncvarlink_client.py SOCKET      passes or says what went wrong, and exits with 1
    asyncvarlink_client.py --describe  prints the interface as asyncvarlink derives it from the types below
"""

import asyncio
import collections.abc
import dataclasses
import sys
import typing

from asyncvarlink import (
    TypedVarlinkErrorReply,
    VarlinkClientProtocol,
    VarlinkInterface,
    connect_unix_varlink,
    varlinkmethod,
)

NAME = "org.varlink.certification"
Choice = typing.Literal["one", "two", "three"]
Foo = typing.Literal["foo", "bar", "baz"]
Scalars = typing.TypedDict(
    "Scalars", {"bool": bool, "int": int, "float": float, "string": str}
)
Pair = typing.TypedDict("Pair", {"first": int, "second": str})
Anon = typing.TypedDict("Anon", {"foo": bool, "bar": bool})


@dataclasses.dataclass
class Interface:
    foo: list[dict[str, Foo] | None] | None
    anon: Anon


@dataclasses.dataclass(kw_only=True)
class MyType:
    object: dict
    enum: Choice
    struct: Pair
    array: list[str]
    dictionary: dict[str, str]
    stringset: set[str]
    nullable: str | None = None
    nullable_array_struct: list[Pair] | None = None
    interface: Interface


class ClientIdError(TypedVarlinkErrorReply, interface=NAME):
    class Parameters:
        pass


class CertificationError(TypedVarlinkErrorReply, interface=NAME):
    class Parameters:
        wants: dict
        got: dict


class Certification(VarlinkInterface, name=NAME):
    errors = (ClientIdError, CertificationError)

    @varlinkmethod(return_parameter="client_id")
    def Start(self) -> str: ...

    @varlinkmethod(return_parameter="bool")
    def Test01(self, *, client_id: str) -> bool: ...

    @varlinkmethod(return_parameter="int")
    def Test02(self, *, client_id: str, bool: bool) -> int: ...

    @varlinkmethod(return_parameter="float")
    def Test03(self, *, client_id: str, int: int) -> float: ...

    @varlinkmethod(return_parameter="string")
    def Test04(self, *, client_id: str, float: float) -> str: ...

    @varlinkmethod
    def Test05(self, *, client_id: str, string: str) -> Scalars: ...

    @varlinkmethod(return_parameter="struct")
    def Test06(
        self, *, client_id: str, bool: bool, int: int, float: float, string: str
    ) -> Scalars: ...

    @varlinkmethod(return_parameter="map")
    def Test07(self, *, client_id: str, struct: Scalars) -> dict[str, str]: ...

    @varlinkmethod(return_parameter="set")
    def Test08(self, *, client_id: str, map: dict[str, str]) -> set[str]: ...

    @varlinkmethod(return_parameter="mytype", allow_foreign=True)
    def Test09(self, *, client_id: str, set: set[str]) -> MyType: ...

    @varlinkmethod(return_parameter="string", allow_foreign=True)
    def Test10(
        self, *, client_id: str, mytype: MyType
    ) -> collections.abc.Iterator[str]: ...

    @varlinkmethod
    def Test11(self, *, client_id: str, last_more_replies: list[str]) -> None: ...

    @varlinkmethod(return_parameter="all_ok")
    def End(self, *, client_id: str) -> bool: ...


def expect(wanted: object, got: object) -> None:
    if got != wanted:
        raise AssertionError(f"{got!r} instead of {wanted!r}")


async def fails(error: type[Exception], call: typing.Awaitable) -> Exception:
    try:
        await call
    except error as failure:
        return failure
    raise AssertionError(f"no {error.__name__}")


async def certify(service: typing.Any) -> None:
    run = {"client_id": (await service.Start())["client_id"]}
    reply = await service.Test01(**run)
    reply = await service.Test02(**run, bool=reply["bool"])
    reply = await service.Test03(**run, int=reply["int"])
    reply = await service.Test04(**run, float=reply["float"])
    reply = await service.Test05(**run, string=reply["string"])
    reply = await service.Test06(**run, **reply)
    reply = await service.Test07(**run, struct=reply["struct"])
    reply = await service.Test08(**run, map=reply["map"])
    reply = await service.Test09(**run, set=reply["set"])
    replies = [
        part["string"]
        async for part in service.Test10(**run, mytype=reply["mytype"])
    ]
    expect([f"Reply number {number}" for number in range(1, 11)], replies)
    await service.Test11.oneway(**run, last_more_replies=replies)
    expect({"all_ok": True}, await service.End(**run))


async def fail_certification(service: typing.Any) -> None:
    run = {"client_id": (await service.Start())["client_id"]}
    await service.Test01(**run)
    failure = await fails(CertificationError, service.Test02(**run, bool=False))
    message = {"method": NAME + ".Test02", "parameters": {**run, "bool": True}}
    expect(message, failure.p_wants)
    message["parameters"]["bool"] = False
    expect(message, failure.p_got)
    await fails(ClientIdError, service.Test02(**run, bool=True))


async def main(path: str) -> None:
    transport, protocol = await connect_unix_varlink(VarlinkClientProtocol, path)
    service = protocol.make_proxy(Certification)
    await certify(service)
    await fail_certification(service)
    transport.close()
    print("Certification passed")


if __name__ == "__main__":
    if sys.argv[1] == "--describe":
        print(Certification.render_interface_description())
    else:
        asyncio.run(main(sys.argv[1]))
