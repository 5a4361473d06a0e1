#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "atc/base/bytes.h"
#include "atc/base/status.h"

namespace atc {

/// Maps a file read-only. E13000 missing or unreadable path, E13001 cannot open, E13003 read error.
/// An empty file gives empty Bytes.
StatusOr<Bytes> map_file(const std::filesystem::path& path);

/// Writes to a temporary file in the same folder and renames it on commit(): a failure or a crash
/// leaves no partial file. E13001 when it cannot be created, E13004 when writing fails (full disk).
class FileWriter {
 public:
  static StatusOr<FileWriter> create(const std::filesystem::path& path);
  FileWriter(FileWriter&&) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  FileWriter(const FileWriter&) = delete;
  ~FileWriter();

  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text);
  /// Leaves a hole (zeros) of `count` bytes; sparse on file systems that can.
  Status skip(std::uint64_t count);
  std::uint64_t position() const { return position_; }
  Status commit();

 private:
  FileWriter(int fd, std::filesystem::path target, std::filesystem::path temporary);
  int fd_ = -1;
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::uint64_t position_ = 0;
};

/// Whole file at once, through FileWriter.
Status write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace atc
