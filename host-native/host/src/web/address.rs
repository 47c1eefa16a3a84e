//! The IP addresses of the public internet. Every other address (this machine, its network, a form
//! that stands for another address) is recognised by the registries of special purposes that IANA
//! keeps.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Blocks of IPv4 that are not public unicast: address and length of the prefix.
const SPECIAL_V4: [(Ipv4Addr, u32); 15] = [
    // "This network", RFC 791.
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    // Private networks, RFC 1918.
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Shared by the customers of a carrier, RFC 6598.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    // Loopback.
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Link-local; clouds serve the credentials of their machines there.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    // Protocol assignments.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    // Documentation, RFC 5737.
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Relays of 6to4, which are out of use, RFC 7526.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    // Benchmarks, RFC 2544.
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    // Multicast.
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    // Reserved, and broadcast.
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// The block from which public unicast addresses of IPv6 are assigned.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// The parts of that block that are something else.
const SPECIAL_V6: [(Ipv6Addr, u32); 4] = [
    // Protocol assignments, with Teredo, benchmarks and hashes in the place of addresses.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    // Documentation, RFC 3849 and RFC 9637.
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
    // 6to4, which leads to any IPv4 address.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
];

/// Blocks whose last four bytes are an IPv4 address, which decides: mapped, and translated by the
/// prefix that all networks know (RFC 6052).
const EMBEDDED_V4: [(Ipv6Addr, u32); 2] = [
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96),
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96),
];

/// Returns whether the address is one machine of the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) if EMBEDDED_V4.iter().any(|block| within_v6(address, *block)) => {
            // Otherwise `::ffff:127.0.0.1` would lead to this machine.
            let [.., a, b, c, d] = address.octets();
            is_public_v4(Ipv4Addr::new(a, b, c, d))
        }
        IpAddr::V6(address) => {
            let is_special = SPECIAL_V6.iter().any(|block| within_v6(address, *block));
            // Only the block that is assigned counts: what IANA assigns later is refused and not
            // reached by accident.
            within_v6(address, GLOBAL_V6) && !is_special
        }
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    SPECIAL_V4.iter().all(|(block, length)| (bits ^ block.to_bits()) >> (32 - length) != 0)
}

const fn within_v6(address: Ipv6Addr, (block, length): (Ipv6Addr, u32)) -> bool {
    (address.to_bits() ^ block.to_bits()) >> (128 - length) == 0
}

#[cfg(test)]
mod tests {
    use super::is_public;

    const PUBLIC: &str = "
        1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255
        128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0
        192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 2001:200::1
        2606:4700:4700::1111 2a00:1450:4001:801::200e 2001:db7:ffff::1 2001:db9::1 3ffe:ffff::1
        ::ffff:1.1.1.1 64:ff9b::8.8.8.8";

    const SPECIAL: &str = "
        0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1
        127.255.255.254 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1
        192.0.0.170 192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255
        198.51.100.7 203.0.113.7 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 :: ::1
        ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
        ::ffff:0:127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::8.8.8.8 100::1
        2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1
        2001:1ff:ffff::1 2001:db8::1 2002:7f00:1::1 2002:808:808::1 3fff::1 3fff:fff:ffff::1
        4000::1 5f00::1 fc00::1 fd12:3456:789a::1 fe80::1 febf::1 fec0::1 ff02::1 ff0e::1";

    #[test]
    fn c16_only_public_unicast_is_reached() {
        for (addresses, expected) in [(PUBLIC, true), (SPECIAL, false)] {
            for text in addresses.split_whitespace() {
                assert_eq!(is_public(text.parse().unwrap()), expected, "{text}");
            }
        }
    }
}
