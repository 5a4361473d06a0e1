#include "atc/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <vector>

#include "atc/base/check.h"

namespace atc {
namespace {

std::string quoted(const std::filesystem::path& path) { return "'" + path.string() + "'"; }
std::string reason(int error) { return std::strerror(error); }

/// Closes on every way out.
struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

/// Pipes and devices cannot be mapped.
StatusOr<Bytes> read_stream(int fd, const std::filesystem::path& path) {
  auto data = std::make_shared<std::vector<std::byte>>();
  std::array<std::byte, 65536> buffer;
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::error("E13003", "cannot read " + quoted(path) + ": " + reason(errno));
    if (got == 0) break;
    data->insert(data->end(), buffer.begin(), buffer.begin() + got);
  }
  const std::span<const std::byte> view(*data);
  return Bytes(std::move(data), view);
}

Status cannot_create(const std::filesystem::path& path, int error) {
  std::string why = reason(error);
  const auto folder = path.parent_path();
  std::error_code ignored;
  if (error == ENOENT && !folder.empty() && !std::filesystem::exists(folder, ignored))
    why = "the folder " + quoted(folder) + " does not exist";
  return Status::error("E13001", "cannot open " + quoted(path) + " for writing: " + why);
}

}  // namespace

StatusOr<Bytes> map_file(const std::filesystem::path& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG)
      return Status::error("E13000", "the file " + quoted(path) + " does not exist");
    return Status::error("E13001", "cannot open " + quoted(path) + ": " + reason(errno));
  }
  struct stat info {};
  if (::fstat(file.fd, &info) != 0)
    return Status::error("E13003", "cannot read " + quoted(path) + ": " + reason(errno));
  if (S_ISDIR(info.st_mode))
    return Status::error("E13000", quoted(path) + " is a folder, a file is expected");
  // Devices may have no end; pipes end with their writer.
  if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode))
    return Status::error("E13000", quoted(path) + " is a device, a file is expected");
  if (!S_ISREG(info.st_mode)) return read_stream(file.fd, path);
  if (info.st_size == 0) return Bytes();
  const auto size = static_cast<std::size_t>(info.st_size);
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (mapped == MAP_FAILED) return read_stream(file.fd, path);
  std::shared_ptr<const void> owner(mapped, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
  return Bytes(std::move(owner), {static_cast<const std::byte*>(mapped), size});
}

StatusOr<FileWriter> FileWriter::create(const std::filesystem::path& path) {
  static std::atomic<unsigned> serial{0};
  std::error_code ignored;
  std::filesystem::path target = path;
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return Status::error("E13001",
                           "cannot open " + quoted(path) + " for writing: it is a folder, not a file");
    if (!S_ISREG(info.st_mode)) {
      // A device or a pipe is written in place: renaming over it would replace it.
      const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (fd < 0) return cannot_create(path, errno);
      return FileWriter(fd, path, {});
    }
    if (::access(path.c_str(), W_OK) != 0) return cannot_create(path, errno);
    // A link keeps pointing to the file that it names.
    if (const auto resolved = std::filesystem::canonical(path, ignored); !ignored) target = resolved;
  }
  // Not the target's name and more: that could be too long.
  const std::filesystem::path temporary = target.parent_path() / (".atc-tmp" + std::to_string(::getpid()) +
                                                                  "-" + std::to_string(serial.fetch_add(1)));
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return cannot_create(path, errno);
  return FileWriter(fd, std::move(target), temporary);
}

FileWriter::FileWriter(int fd, std::filesystem::path target, std::filesystem::path temporary)
    : fd_(fd), target_(std::move(target)), temporary_(std::move(temporary)) {}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      position_(other.position_) {
  other.temporary_.clear();
}

FileWriter::~FileWriter() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status FileWriter::write(std::span<const std::byte> bytes) {
  ATC_CHECK(fd_ >= 0, "FileWriter::write after commit");
  // The kernel takes at most 2 GiB at once.
  constexpr std::size_t kMost = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd_, bytes.data(), std::min(bytes.size(), kMost));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Status::error("E13004", "cannot write " + quoted(target_) + ": " + reason(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    position_ += static_cast<std::uint64_t>(put);
  }
  return {};
}

Status FileWriter::write(std::string_view text) {
  return write(std::as_bytes(std::span(text.data(), text.size())));
}

Status FileWriter::skip(std::uint64_t count) {
  ATC_CHECK(fd_ >= 0, "FileWriter::skip after commit");
  constexpr std::array<std::byte, 4096> kZeros{};
  if (temporary_.empty()) {  // not a regular file: no holes
    for (std::uint64_t left = count; left > 0;) {
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left, kZeros.size()));
      ATC_TRY(write(std::span(kZeros).first(part)));
      left -= part;
    }
    return {};
  }
  ATC_CHECK(count <= static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()) - position_,
            "FileWriter::skip overflows");
  if (::lseek(fd_, static_cast<off_t>(position_ + count), SEEK_SET) < 0)
    return Status::error("E13004", "cannot write " + quoted(target_) + ": " + reason(errno));
  position_ += count;
  return {};
}

Status FileWriter::commit() {
  ATC_CHECK(fd_ >= 0, "FileWriter::commit twice");
  const bool in_place = temporary_.empty();
  // A hole at the end exists only once the length is set.
  int error = !in_place && ::ftruncate(fd_, static_cast<off_t>(position_)) != 0 ? errno : 0;
  if (::close(std::exchange(fd_, -1)) != 0 && error == 0) error = errno;
  if (error == 0 && !in_place && ::rename(temporary_.c_str(), target_.c_str()) != 0) error = errno;
  if (error != 0) return Status::error("E13004", "cannot write " + quoted(target_) + ": " + reason(error));
  temporary_.clear();
  return {};
}

Status write_file(const std::filesystem::path& path, std::string_view text) {
  ATC_ASSIGN(FileWriter writer, FileWriter::create(path));
  ATC_TRY(writer.write(text));
  return writer.commit();
}

}  // namespace atc
