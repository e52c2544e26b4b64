// The key hashes of twemproxy and of libmemcached's hashkit, with 32-bit results, where they differ from the textbook:
// `char` was signed where they grew up, so some functions sign-extend bytes >= 0x80; one CRC-16 never masks its
// accumulator. A name says what is special; keys of ASCII bytes agree with the plain function of the same name.
//
// Source: behaviour of nutcracker 0.5.0 and libmemcached 1.1.4 on amd64. Cost: one pass, no allocation.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace slipring {

// Low 32 bits of 64-bit FNV-1 and FNV-1a, 32-bit FNV-1 and FNV-1a; all with sign-extended bytes.
uint32_t fnv1_64_low_signed(std::string_view key);
uint32_t fnv1a_64_low_signed(std::string_view key);
uint32_t fnv1_32_signed(std::string_view key);
uint32_t fnv1a_32_signed(std::string_view key);

// Jenkins' one-at-a-time with sign-extended bytes.
uint32_t one_at_a_time_signed(std::string_view key);

// CRC-16/XMODEM whose accumulator keeps all 32 bits that are shifted into it.
uint32_t crc16_unmasked(std::string_view key);

// Bits 16 to 30 of the CRC-32: 0 to 32767.
uint32_t crc32_15_bits(std::string_view key);

// First word, little endian, of the MD5.
uint32_t md5_first_word(std::string_view key);

// MurmurHash2 seeded with 0xdeadbeef * length.
uint32_t murmur2_length_seed(std::string_view key);

// MurmurHash3 x86 32 seeded with 0xdeadbeef * length.
uint32_t murmur3_length_seed(std::string_view key);

// Jenkins' lookup3 with initial value 13.
uint32_t jenkins_lookup3_13(std::string_view key);

}  // namespace slipring
