#include "io/byte_source.hpp"

#include <sys/stat.h>
#include <zlib.h>

#include "reading.hpp"

namespace subspectra {
namespace {

using testing::contains;
using testing::Folder;
using testing::message_of;

std::string gzipped(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 1000, '\0');
  std::string input(text);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

std::string all_of(ByteSource& source, std::size_t step) {
  std::string text;
  std::string buffer(step, '\0');
  while (const std::size_t got = source.read(buffer)) text.append(buffer, 0, got);
  return text;
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += std::to_string(i * 7919) + ",";
  return text;
}

TEST(ByteSource, PlainAndGzipFilesGiveTheSameBytes) {
  const Folder folder;
  const std::string text = long_text();
  for (const std::size_t step : {std::size_t{1000}, std::size_t{1} << 20}) {
    EXPECT_EQ(all_of(*open_bytes(folder.write("plain.csv", text)), step), text);
    EXPECT_EQ(all_of(*open_bytes(folder.write("zipped.csv.gz", gzipped(text))), step), text);
    EXPECT_EQ(all_of(*open_bytes(folder.write("zipped_in_disguise.csv", gzipped(text))), step), text);
    EXPECT_EQ(all_of(*memory_bytes(text), step), text);
  }
  EXPECT_EQ(all_of(*open_bytes(folder.write("one", "x")), 3), "x");
}

TEST(ByteSource, SeveralMembersAreOneStreamAndZeroPaddingIsNone) {
  const std::string two = gzipped("hello ") + gzipped("") + gzipped("world") + std::string(700, '\0');
  EXPECT_EQ(all_of(*unzipped_bytes(memory_bytes(two), "t.gz"), 4), "hello world");
}

TEST(ByteSource, DamagedGzipIsRefused) {
  const std::string good = gzipped(long_text());
  const auto read = [](std::string_view bytes) {
    return message_of([&] { return all_of(*unzipped_bytes(memory_bytes(bytes), "t.csv.gz"), 4096); });
  };
  for (const std::size_t cut : {std::size_t{2}, std::size_t{9}, std::size_t{100}, good.size() - 1}) {
    EXPECT_TRUE(
        contains(read(std::string_view(good).substr(0, cut)), "t.csv.gz: the gzip data end in the middle"))
        << cut;
  }
  std::string flipped = good;
  flipped[good.size() - 6] = static_cast<char>(flipped[good.size() - 6] ^ 0x40);  // the checksum
  EXPECT_TRUE(contains(read(flipped), "the gzip data are corrupt"));
  EXPECT_TRUE(contains(read(good + "tail"), "bytes that are not gzip follow"));
  EXPECT_TRUE(contains(read("a,b\n1,2\n"), "the name ends in .gz but the contents are not gzip"));
}

TEST(ByteSource, PathsThatCannotBeReadAreNamed) {
  const Folder folder;
  EXPECT_TRUE(contains(message_of([&] { return open_bytes(folder.path("none.csv")); }),
                       "none.csv: there is no such file"));
  EXPECT_TRUE(contains(message_of([&] { return open_bytes(folder.path("")); }), "this is a directory"));
  EXPECT_TRUE(
      contains(message_of([&] { return open_bytes(folder.write("empty.csv", "")); }), "the file is empty"));
  EXPECT_TRUE(contains(message_of([&] { return checked_file_size(folder.path("none.csv")); }),
                       "there is no such file"));
  EXPECT_EQ(checked_file_size(folder.write("three", "abc")), 3U);
  const std::string secret = folder.write("secret.csv", "a\n");
  ::chmod(secret.c_str(), 0);
  if (::access(secret.c_str(), R_OK) != 0) {  // root reads everything
    EXPECT_TRUE(contains(message_of([&] { return open_bytes(secret); }), "permission denied"));
  }
}

}  // namespace
}  // namespace subspectra
