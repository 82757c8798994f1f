"""Decode the 24 byte packets of the Tidewatch buoys."""

import struct

# little endian: buoy, sequence, seconds of the hour, temperature, salinity, pressure, wave height, battery, flags, crc
LAYOUT = struct.Struct("<BHHhHHBHB7xH")
PRESSURE_OFFSET_HPA = 800.0


def decode_packet(data: bytes) -> dict[str, float]:
    """Return a measurement; raise ValueError when the checksum does not match."""
    if len(data) != LAYOUT.size:
        raise ValueError(f"a packet has {LAYOUT.size} bytes, not {len(data)}")
    buoy, sequence, second, temperature, salinity, pressure, wave, battery, flags, crc = LAYOUT.unpack(data)
    if crc16(data[:-2]) != crc:
        raise ValueError("checksum does not match")
    return {
        "buoy": buoy,
        "sequence": sequence,
        "second_of_hour": second,
        "temperature_c": temperature / 100,
        "salinity_psu": salinity / 50,
        "pressure_hpa": PRESSURE_OFFSET_HPA + pressure / 10,
        "wave_height_m": wave * 0.05,
        "battery_v": battery / 1000,
        "flags": flags,
    }


def crc16(data: bytes, polynomial: int = 0x1021, value: int = 0xFFFF) -> int:
    """Return the CRC-16/CCITT-FALSE of some bytes."""
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = ((value << 1) ^ polynomial if value & 0x8000 else value << 1) & 0xFFFF
    return value


def needs_new_battery(resting_voltage: float) -> bool:
    """Say whether a pack has to be replaced before winter (see the winter check of 2025)."""
    return resting_voltage < 3.35
