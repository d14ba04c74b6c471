#!/usr/bin/env python3
"""A virtual phone for the test machine: an emulated BLE radio with a central.

The radio has two ends. One is a controller that the kernel sees as hci0 (through
/dev/vhci), so the real bluetoothd uses it as its adapter. The other belongs to a central
(Google Bumble's host stack) that scans, connects, pairs, reads, writes and subscribes like
a phone. This process contains both ends and the radio link between them.

`phone.py serve` runs the radio and answers requests on a socket; Tests/Lab/vm starts it. Send requests
from a shell (replies are JSON; a failure prints a message, and the exit status is 1):

    phone.py scan [seconds=3] [service=UUID] [name=NAME]   ends at the first match
    phone.py connect [address=A] [service=UUID] [name=NAME] [mtu=247] [interval=15] [timeout=4000]
                                 (ms) exchanges the MTU, encrypts if bonded, discovers
    phone.py services            lists the discovered services, characteristics and descriptors
    phone.py read CHAR           CHAR: UUID (0x2A00 or 2a00 for short ones), SERVICE/UUID or #HANDLE
    phone.py write CHAR HEX [response=no]
    phone.py subscribe CHAR | unsubscribe CHAR
    phone.py notifications [char=CHAR] [count=1] [timeout=5]   returns received notifications, waits for count
    phone.py pair [io=none|keyboard|display|yesno] [passkey=123456] [mitm=yes]
    phone.py encrypt             uses the keys of an earlier pairing; needed after connect encrypt=no
    phone.py forget              deletes the keys
    phone.py disconnect
    phone.py vanish [back=yes]   goes out of range: both ends have a supervision timeout
    phone.py update interval=30 [latency=0] [timeout=4000]     connection parameters (ms)
    phone.py adapter present=no|yes   unplugs hci0, or plugs it in again
    phone.py log                 lists connections, disconnections with reasons, pairings
    phone.py status

Requests with `phone=2` go to a second phone: Client(phone=2). `vanish` and `adapter` affect both phones.

Send requests from Python (needs only the standard library, imports quickly):

    from phone import Client
    phone = Client()
    phone.connect(service="1f2e...")
    phone.write("1f2f...", b"\x01\x02")

Or use the class `Phone` with asyncio in your own process (with Tests/Lab/vm --bluetooth daemon).
"""
import asyncio, json, os, socket, sys, time

SOCKET = os.environ.get("LAB_PHONE_SOCKET", "/run/lab/phone.sock")
PERIPHERAL_ADDRESS = "0A:1A:B0:00:00:01"     # public address of hci0
CENTRAL_ADDRESS = "C0:1A:B0:00:00:%02d"      # static random addresses of the phones: 02, 03


class PhoneError(Exception):
    """A failed request, with a message; .att contains the code of an ATT error."""
    def __init__(self, text, att=None):
        super().__init__(text)
        self.att = att


# ---- client ---------------------------------------------------------------------------

class Client:
    """Client of a running `phone.py serve`. Every request is a method: phone.scan(seconds=2)."""

    POSITIONAL = {"read": ["char"], "write": ["char", "value"], "subscribe": ["char"],
                  "unsubscribe": ["char"], "notifications": ["char"]}

    def __init__(self, path=SOCKET, wait=60, phone=1):
        self.phone = phone
        end = time.monotonic() + wait
        while True:
            self.socket = socket.socket(socket.AF_UNIX)
            try:
                self.socket.connect(path)
                break
            except OSError:
                self.socket.close()
                if time.monotonic() > end:
                    raise PhoneError(f"no phone at {path}")
                time.sleep(0.1)
        self.lines = self.socket.makefile("r")

    def request(self, do, **arguments):
        arguments = {k: v.hex() if isinstance(v, (bytes, bytearray)) else v for k, v in arguments.items()}
        self.socket.sendall(json.dumps({"do": do, "phone": self.phone, **arguments}).encode() + b"\n")
        line = self.lines.readline()
        if not line:
            raise PhoneError("the simulated phone closed the connection")
        answer = json.loads(line)
        if "error" in answer:
            raise PhoneError(answer["error"], answer.get("att"))
        return answer["result"]

    def read(self, char):
        return bytes.fromhex(self.request("read", char=char))

    def __getattr__(self, do):
        if do.startswith("_"):
            raise AttributeError(do)
        names = self.POSITIONAL.get(do, [])
        return lambda *a, **k: self.request(do, **dict(zip(names, a)), **k)

    def close(self):
        self.lines.close()
        self.socket.close()


# ---- the radio ------------------------------------------------------------------------

def radio_classes():
    """The emulated controller and link. Bumble is imported here, because its import takes seconds under emulation."""
    from bumble import hci, link, ll
    from bumble.controller import Controller

    class Air(link.LocalLink):
        """Radio link that connects all devices, until `silent` is true."""
        silent = False

        def send_acl_data(self, sender, destination, transport, data):
            # Uses the connection's address: the base class assumes random addresses.
            connection = sender.le_connections.get(destination)
            peer = self.find_le_controller(destination)
            if connection and peer and not self.silent:
                asyncio.get_running_loop().call_soon(peer.on_link_acl_data, connection.self_address, transport, data)

        def send_advertising_pdu(self, sender, packet):
            if not self.silent:
                super().send_advertising_pdu(sender, packet)
            if isinstance(packet, ll.ConnectInd):
                asyncio.get_running_loop().call_later(0.2, self.establish, sender, packet)

        def establish(self, sender, packet):
            # A device that has just stopped advertising misses the request: the central gets an error, and retries.
            peer = self.find_le_controller(packet.advertiser_address)
            connection = sender.le_connections.get(packet.advertiser_address)
            if connection and (not peer or packet.initiator_address not in peer.le_connections):
                sender.on_le_disconnected(connection, hci.HCI_CONNECTION_FAILED_TO_BE_ESTABLISHED_ERROR)

        def send_ll_control_pdu(self, sender_address, receiver_address, packet):
            if not self.silent:
                super().send_ll_control_pdu(sender_address, receiver_address, packet)

        def advertiser(self, address):
            """(legacy PDUs?, connectable?, scan response) of the device that advertises with an address."""
            for c in self.controllers:
                a = c.le_legacy_advertiser
                if a.enabled and a.address == address:
                    return True, a.advertising_type in (0, 1), bytes(a.scan_response_data)
                for s in c.advertising_sets.values():
                    if s.enabled and s.parameters and s.address == address:
                        p = int(s.parameters.advertising_event_properties)
                        return bool(p & 0x10), bool(p & 1), bytes(s.scan_response_data)
            return True, False, b""

    class End(Controller):
        """Bumble's controller with scan responses, connection parameters and realistic packet sizes."""
        le_acl_data_packet_length = acl_data_packet_length = 251
        supported_max_tx_octets = supported_max_rx_octets = suggested_max_tx_octets = 251
        supported_max_tx_time = supported_max_rx_time = suggested_max_tx_time = 2120
        manufacturer_company_identifier = 0xFFFF
        indication = None
        timeout = 4.0            # supervision timeout of the last connection, seconds

        def on_advertising_pdu(self, pdu):
            scanning, self.le_scan_enable = self.le_scan_enable, False
            if scanning:
                legacy, connectable, response = self.link.advertiser(pdu.advertiser_address)
                kinds = [((0x10 if legacy else 0) | (3 if connectable and legacy else connectable), pdu.data)]
                if legacy:
                    kinds.append((0x18 | (3 if connectable else 2), response))
                for kind, data in kinds:
                    self.send_hci_packet(hci.HCI_LE_Extended_Advertising_Report_Event([
                        hci.HCI_LE_Extended_Advertising_Report_Event.Report(
                            event_type=kind, address_type=pdu.advertiser_address.address_type,
                            address=pdu.advertiser_address, primary_phy=1, secondary_phy=0 if legacy else 1,
                            advertising_sid=0xFF if legacy else 0, tx_power=127, rssi=-50,
                            periodic_advertising_interval=0, direct_address_type=0,
                            direct_address=hci.Address.ANY, data=data)]))
            try:
                super().on_advertising_pdu(pdu)     # connections; advertising reports are off here
            finally:
                self.le_scan_enable = scanning

        def on_le_connect_ind(self, packet):
            self.indication = packet
            super().on_le_connect_ind(packet)

        def send_hci_packet(self, packet):
            if isinstance(packet, hci.HCI_LE_Connection_Complete_Event) and not packet.status:
                i = self.indication
                if packet.role == hci.Role.PERIPHERAL and i:
                    packet = hci.HCI_LE_Connection_Complete_Event(
                        status=0, connection_handle=packet.connection_handle, role=packet.role,
                        peer_address_type=packet.peer_address_type, peer_address=packet.peer_address,
                        connection_interval=i.interval, peripheral_latency=i.latency,
                        supervision_timeout=i.timeout, central_clock_accuracy=0)
                self.timeout = packet.supervision_timeout / 100
            super().send_hci_packet(packet)

        def on_le_disconnected(self, connection, reason):
            if connection.peer_address in self.le_connections:
                super().on_le_disconnected(connection, reason)

        def on_hci_disconnect_command(self, command):
            # The side that ends a connection gets the reason "terminated by local host".
            connection = self.find_le_connection_by_handle(command.connection_handle)
            if connection is None:
                return super().on_hci_disconnect_command(command)
            self._send_hci_command_status(0, command.op_code)
            connection.send_ll_control_pdu(ll.TerminateInd(command.reason))
            self.on_le_disconnected(connection, hci.HCI_CONNECTION_TERMINATED_BY_LOCAL_HOST_ERROR)

    class Adapter(End):
        """The controller of hci0. By default like that of a Raspberry Pi 3 or 4: Bluetooth 4.2, 31 bytes of advertising data,
        a few advertisements. LAB_RADIO=extended: Bluetooth 5, 251 bytes."""
        if os.environ.get("LAB_RADIO") != "extended":
            hci_version = lmp_version = hci.HCI_VERSION_BLUETOOTH_CORE_4_2
            le_features = (hci.LeFeatureMask.LE_ENCRYPTION
                           | hci.LeFeatureMask.CONNECTION_PARAMETERS_REQUEST_PROCEDURE
                           | hci.LeFeatureMask.EXTENDED_REJECT_INDICATION
                           | hci.LeFeatureMask.PERIPHERAL_INITIATED_FEATURE_EXCHANGE
                           | hci.LeFeatureMask.LE_PING
                           | hci.LeFeatureMask.LE_DATA_PACKET_LENGTH_EXTENSION)

    return Air, End, Adapter


class Vhci:
    """Transport between a controller and the kernel: one packet per read() and write() of /dev/vhci."""

    def __init__(self, path="/dev/vhci"):
        end = time.monotonic() + 60              # Tests/Lab/vm starts this program while it loads the modules
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.05)
        self.fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        os.write(self.fd, b"\xff\x00")           # create an hci device (primary controller)

    def attach(self, controller):
        def readable():
            try:
                packet = os.read(self.fd, 4096)
            except BlockingIOError:
                return
            if packet and packet[0] != 0xFF:     # 0xff: the packet contains the number of the hci device
                controller.on_packet(packet)
        asyncio.get_running_loop().add_reader(self.fd, readable)

    def on_packet(self, packet):
        if self.fd is not None:
            os.write(self.fd, packet)

    def close(self):
        asyncio.get_running_loop().remove_reader(self.fd)
        os.close(self.fd)
        self.fd = None


# ---- the central ----------------------------------------------------------------------

AD_TYPES = {0x01: "flags", 0x0A: "tx_power", 0x16: "service_data", 0x19: "appearance", 0xFF: "manufacturer"}


class Phone:
    """The central. `await Phone.open()` creates the radio and a phone; `await phone.another()` adds a phone to the same radio.
    The methods are the requests of `serve`."""

    def __init__(self, air, far, number):
        self.air, self.far = air, far
        self.address = CENTRAL_ADDRESS % (number + 1)
        self.connection = self.peer = self.securing = None
        self.received, self.arrival = [], None   # notifications; set when one arrives
        self.history = []
        self.characteristics = {}

    @classmethod
    async def open(cls, vhci="/dev/vhci"):
        # Import everything first: imports take seconds, and the kernel waits 2 s for the adapter's first reply.
        import bumble.device, bumble.host, bumble.transport.common      # noqa: E401,F401
        Air, cls.End, Adapter = radio_classes()
        air = Air()
        far = Adapter("hci0", link=air, public_address=PERIPHERAL_ADDRESS)
        far.host = Vhci(vhci)
        far.host.attach(far)
        return await cls(air, far, 1).power_on()

    async def another(self):
        return await Phone(self.air, self.far, 2).power_on()

    async def power_on(self):
        from bumble import hci
        from bumble.device import Device
        from bumble.host import Host
        from bumble.transport.common import AsyncPipeSink
        self.arrival = asyncio.Event()
        self.near = self.End("phone", link=self.air, public_address=self.address)
        self.device = Device(name="phone", address=hci.Address(self.address),
                             host=Host(self.near, AsyncPipeSink(self.near)))
        await self.device.power_on()
        return self

    def note(self, event, **more):
        self.history.append({"t": round(time.monotonic(), 4), "event": event, **more})

    # -- requests: keyword arguments and results are JSON --

    async def scan(self, seconds=3, service=None, name=None):
        from bumble.core import UUID
        found, done = {}, asyncio.Event()
        wanted = UUID(service) if service else None

        def heard(advertisement):
            address = str(advertisement.address)
            e = found.setdefault(address, {"address": address, "name": None, "services": [], "reports": 0})
            e.update(reports=e["reports"] + 1, connectable=advertisement.is_connectable, rssi=advertisement.rssi)
            for kind, data in advertisement.data.ad_structures:
                width = {2: 2, 3: 2, 4: 4, 5: 4, 6: 16, 7: 16}.get(kind)
                if kind in (8, 9):
                    e["name"] = data.decode(errors="replace")
                elif width:
                    for at in range(0, len(data), width):
                        uuid = uuid_text(UUID.from_bytes(data[at:at + width]))
                        if uuid not in e["services"]:
                            e["services"].append(uuid)
                else:
                    e[AD_TYPES.get(kind, f"type_{kind:02x}")] = data.hex()
            if (wanted or name) and (not wanted or uuid_text(wanted) in e["services"]) and (not name or e["name"] == name):
                done.set()

        self.device.on("advertisement", heard)
        try:
            await self.device.start_scanning(filter_duplicates=False)
            try:
                await asyncio.wait_for(done.wait(), seconds)
            except asyncio.TimeoutError:
                pass
            await self.device.stop_scanning()
        finally:
            self.device.remove_listener("advertisement", heard)
        return [e for e in found.values()
                if (not wanted or uuid_text(wanted) in e["services"]) and (not name or e["name"] == name)]

    async def connect(self, address=None, service=None, name=None, mtu=247, interval=15, timeout=4000,
                      seconds=10, discover=True, encrypt=True):
        from bumble import hci
        from bumble.device import ConnectionParametersPreferences, Peer
        if self.connection:
            raise PhoneError("already connected")
        if not address:
            found = [e for e in await self.scan(seconds, service, name) if e["connectable"]]
            if not found:
                raise PhoneError("found no peripheral to connect to")
            address = found[0]["address"]
        preferences = ConnectionParametersPreferences(
            connection_interval_min=interval, connection_interval_max=interval, supervision_timeout=timeout)
        # Bumble appends "/P" to a public address.
        self.connection = await self.device.connect(
            address, connection_parameters_preferences={hci.HCI_LE_1M_PHY: preferences}, timeout=seconds)
        connection = self.connection
        self.note("connected", address=address)
        connection.on("disconnection", lambda reason: self.gone(connection, reason))
        connection.on("connection_encryption_change", lambda: self.note("encryption", on=bool(connection.encryption)))
        connection.on("connection_parameters_update", lambda *a: self.note("parameters", **self.parameters()))
        connection.on("pairing", lambda keys: self.note("paired", authenticated=keys_authenticated(keys)))
        connection.on("pairing_failure", lambda reason: self.note("pairing failed", reason=int(reason)))
        connection.on("security_request", lambda *a: asyncio.ensure_future(self.secure(connection)))
        if encrypt:
            await self.secure(connection)
        self.peer = Peer(connection)
        self.characteristics, self.received = {}, []
        result = {"address": address, "mtu": await self.peer.request_mtu(mtu) if mtu else 23}
        if discover:
            await self.services()
        return result

    async def secure(self, connection):
        """Encrypts the connection if there are keys, as a phone does immediately after it connects. (bluetoothd does not
        answer a bonded central before that.)"""
        keys = await self.device.keystore.get(str(connection.peer_address))
        if not keys:
            return
        if not self.securing and not connection.encryption:
            self.securing = asyncio.ensure_future(connection.encrypt())
            self.securing.add_done_callback(lambda task: setattr(self, "securing", None))
        if self.securing:
            await asyncio.wait([self.securing])
        if not connection.encryption:
            self.note("encryption failed")

    def gone(self, connection, reason):
        self.note("disconnected", reason=int(reason))
        if connection is self.connection:
            self.connection = self.peer = None
            self.arrival.set()

    def connected(self):
        if not self.connection:
            raise PhoneError("not connected")
        return self.connection

    async def services(self):
        self.connected()
        await self.peer.discover_services()
        self.characteristics, result = {}, []
        for s in self.peer.services:
            await s.discover_characteristics()
            entry = {"uuid": uuid_text(s.uuid), "handle": s.handle, "characteristics": []}
            for c in s.characteristics:
                await c.discover_descriptors()
                uuid = uuid_text(c.uuid)
                for key in (uuid, f"{entry['uuid']}/{uuid}", f"#{c.handle}"):
                    self.characteristics.setdefault(key, []).append(c)
                entry["characteristics"].append({
                    "uuid": uuid, "handle": c.handle, "properties": properties_text(c.properties),
                    "descriptors": [{"uuid": uuid_text(d.type), "handle": d.handle} for d in c.descriptors]})
            result.append(entry)
        return result

    async def find(self, char):
        self.connected()
        if not self.characteristics:
            await self.services()
        from bumble.core import UUID
        key = char if char.startswith("#") else "/".join(uuid_text(UUID(u.removeprefix("0x"))) for u in char.split("/"))
        if key.startswith("#"):
            key = f"#{int(key[1:], 0)}"
        found = self.characteristics.get(key, [])
        if len(found) != 1:
            raise PhoneError(f"{len(found) or 'no'} characteristics for {char}")
        return found[0]

    async def read(self, char):
        return bytes(await self.peer.read_value(await self.find(char))).hex()

    async def write(self, char, value, response=True):
        if not isinstance(response, bool):
            raise ValueError(f"response is true or false, not {response!r}")
        await self.peer.write_value(await self.find(char), bytes.fromhex(value), with_response=response)

    async def subscribe(self, char):
        c = await self.find(char)
        uuid = uuid_text(c.uuid)

        def notified(value):
            self.received.append({"t": round(time.monotonic(), 4), "char": uuid, "value": bytes(value).hex()})
            self.arrival.set()
        await self.peer.subscribe(c, notified)

    async def unsubscribe(self, char):
        await self.peer.unsubscribe(await self.find(char))

    async def notifications(self, char=None, count=1, timeout=5):
        from bumble.core import UUID
        uuid = uuid_text(UUID(char.removeprefix("0x"))) if char else None
        end = time.monotonic() + timeout
        while True:
            taken = [n for n in self.received if uuid in (None, n["char"])]
            left = end - time.monotonic()
            if len(taken) >= count or left <= 0 or not self.connection:
                self.received = [n for n in self.received if n not in taken]
                return taken
            self.arrival.clear()
            try:
                await asyncio.wait_for(self.arrival.wait(), left)
            except asyncio.TimeoutError:
                pass

    async def pair(self, io="none", passkey=None, mitm=None, sc=True, bond=True, seconds=30):
        from bumble.pairing import PairingConfig, PairingDelegate
        connection, phone = self.connected(), self
        kinds = PairingDelegate.IoCapability
        io = {"none": kinds.NO_OUTPUT_NO_INPUT, "keyboard": kinds.KEYBOARD_INPUT_ONLY,
              "display": kinds.DISPLAY_OUTPUT_ONLY, "yesno": kinds.DISPLAY_OUTPUT_AND_YES_NO_INPUT}[io]

        class Delegate(PairingDelegate):
            async def get_number(self):          # the passkey that the other side displays
                value = passkey
                for _ in range(int(seconds * 10)):
                    if not isinstance(value, str):
                        break
                    if os.path.exists(value):    # passkey=FILE: the test writes the passkey to this file
                        value = int(open(value).read())
                    else:
                        await asyncio.sleep(0.1)
                phone.note("passkey entered", value=value)
                return value
            async def display_number(self, number, digits=6):
                phone.note("passkey shown", value=number)
            async def compare_numbers(self, number, digits=6):
                phone.note("numbers compared", value=number)
                return True

        delegate = Delegate(io)
        if mitm is None:
            mitm = io != kinds.NO_OUTPUT_NO_INPUT
        self.device.pairing_config_factory = lambda c: PairingConfig(
            sc=sc, mitm=mitm, bonding=bond, delegate=delegate, identity_address_type=PairingConfig.AddressType.RANDOM)
        await asyncio.wait_for(connection.pair(), seconds)
        keys = await self.device.keystore.get(str(connection.peer_address))
        return {"encrypted": bool(connection.encryption), "authenticated": keys_authenticated(keys)}

    async def encrypt(self):
        connection = self.connected()
        await connection.encrypt()
        return {"encrypted": bool(connection.encryption)}

    async def forget(self):
        if self.device.keystore:
            await self.device.keystore.delete_all()

    async def update(self, interval, latency=0, timeout=4000):
        await self.connected().update_parameters(interval, interval, latency, timeout)

    def parameters(self):
        p = self.connection.parameters
        return {"interval": p.connection_interval, "latency": p.peripheral_latency, "timeout": p.supervision_timeout}

    async def disconnect(self):
        connection = self.connected()
        await connection.disconnect()

    async def vanish(self, back=True):
        self.air.silent = True
        await asyncio.sleep(self.far.timeout if self.connection else 0)
        for end in (self.far, self.near):
            for connection in list(end.le_connections.values()):
                end.on_le_disconnected(connection, 0x08)      # connection timeout
        if back:
            self.air.silent = False

    async def adapter(self, present):
        if not present:
            from bumble import ll
            for connection in list(self.far.le_connections.values()):
                connection.send_ll_control_pdu(ll.TerminateInd(0x15))      # power off
                self.far.on_le_disconnected(connection, 0x16)
            self.far.le_legacy_advertiser.stop()
            self.far.host.close()
            return
        self.far.host = Vhci()
        self.far.host.attach(self.far)

    async def reappear(self):
        self.air.silent = False

    async def log(self):
        return self.history

    async def status(self):
        c = self.connection
        return {"connected": bool(c), "encrypted": bool(c and c.encryption), "mtu": c.att_mtu if c else None,
                "parameters": self.parameters() if c else None, "waiting": len(self.received)}


def uuid_text(uuid):
    """UUID in lower case: 4 hex digits for a short UUID, the usual form for others."""
    raw = uuid.to_bytes()[::-1].hex()
    return raw if len(raw) < 32 else "-".join((raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:]))


def properties_text(properties):
    names = ["broadcast", "read", "write-without-response", "write", "notify", "indicate", "signed-write", "extended"]
    return [n for bit, n in enumerate(names) if int(properties) >> bit & 1]


def keys_authenticated(keys):
    return bool(keys and keys.ltk and keys.ltk.authenticated)


# ---- server and command line ----------------------------------------------------------

REQUESTS = ("scan connect services read write subscribe unsubscribe notifications pair encrypt forget "
            "disconnect vanish reappear adapter update log status").split()


async def serve(path):
    from bumble import att, core
    phones = {1: await Phone.open()}

    async def answer(request):
        do, number = request.pop("do", None), request.pop("phone", 1)
        if do not in REQUESTS:
            return {"error": f"no such request: {do}"}
        if number == 2 and 2 not in phones:
            phones[2] = await phones[1].another()
        if number not in phones:
            return {"error": f"no such phone: {number}"}
        phone = phones[number]
        try:
            return {"result": await getattr(phone, do)(**request)}
        except att.ATT_Error as e:
            return {"error": f"ATT error 0x{e.error_code:02x} {e.error_name}", "att": e.error_code}
        except core.ProtocolError as e:
            return {"error": f"{e.error_namespace or ''} error {e.error_code} {e.error_name}".strip()}
        except asyncio.CancelledError:           # Bumble cancels requests that a lost connection leaves open
            return {"error": f"cut off: {phone.history[-1] if phone.history else 'cancelled'}"}
        except Exception as e:
            return {"error": str(e) or type(e).__name__}

    async def client(reader, writer):
        while line := await reader.readline():
            try:
                result = await answer(json.loads(line))
            except ValueError as e:
                result = {"error": f"not JSON: {e}"}
            writer.write(json.dumps(result).encode() + b"\n")
            await writer.drain()
        writer.close()

    if os.path.exists(path):
        os.unlink(path)
    server = await asyncio.start_unix_server(client, path)
    async with server:
        await server.serve_forever()


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(__doc__)
        return 0
    do, *rest = arguments
    if do == "serve":
        import logging
        logging.basicConfig(level=os.environ.get("LAB_PHONE_LOG", "WARNING"))
        asyncio.run(serve(SOCKET))
        return 0
    names, values = list(Client.POSITIONAL.get(do, [])), {}
    for a in rest:
        key, equals, value = a.partition("=")
        if not equals:
            key, value = names.pop(0) if names else sys.exit(f"phone.py: unexpected argument {a}"), a
        if key not in ("char", "value", "name", "address", "service"):
            value = {"yes": True, "no": False}.get(value, value)
            try:
                value = json.loads(value) if isinstance(value, str) else value
            except ValueError:
                pass
        values[key] = value
    try:
        result = Client().request(do, **values)
    except PhoneError as e:
        print(f"phone.py: {e}", file=sys.stderr)
        return 1
    if result is not None:
        print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
