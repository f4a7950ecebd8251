// SPDX-License-Identifier: Apache-2.0
#include "playback/stream_server.h"
#include "playback/wav.h"
#include "process/testing.h"

#include <arpa/inet.h>
#include <chrono>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/launch/playback.h>
#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kPatience(10'000);

/// A client on a plain socket.
class Client {
 public:
  explicit Client(const std::string& url, int receive_buffer = 0) {
    const size_t host = url.find("//") + 2;
    const size_t colon = url.find(':', host);
    const size_t slash = url.find('/', host);
    path_ = url.substr(slash);
    fd_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (receive_buffer > 0) {
      ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port =
        htons(static_cast<uint16_t>(*parse_uint(url.substr(colon + 1, slash - colon - 1))));
    ::inet_pton(AF_INET, url.substr(host, colon - host).c_str(), &address.sin_addr);
    (void)!::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  }
  void send(const std::string& bytes) const {
    (void)!::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void get() const { send("GET " + path_ + " HTTP/1.1\r\nHost: x\r\n\r\n"); }

  /// Reads until the text has come, or the other side ends; gives what it read up to there.
  std::string read_to(const std::string& text) {
    while (received_.find(text) == std::string::npos && read_some()) {
    }
    const size_t at = received_.find(text);
    return take(at == std::string::npos ? received_.size() : at + text.size());
  }
  std::string read_bytes(size_t size) {
    while (received_.size() < size && read_some()) {
    }
    return take(std::min(size, received_.size()));
  }
  std::string read_all() {
    while (read_some()) {
    }
    return take(received_.size());
  }
  /// The next frame of an MJPEG stream; empty at its end.
  std::string next_frame() {
    const std::string head = read_to("\r\n\r\n");
    const size_t at = head.find("Content-Length: ");
    if (at == std::string::npos) return "";
    std::string frame =
        read_bytes(*parse_uint(head.substr(at + 16, head.find('\r', at) - at - 16)));
    read_bytes(2);
    return frame;
  }

 private:
  bool read_some() {
    pollfd ready{fd_.get(), POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(kPatience.count())) != 1) {
      ADD_FAILURE() << "nothing came for a long time";
      return false;
    }
    std::string buffer(65536, '\0');
    const ssize_t n = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (n <= 0) return false;
    received_.append(buffer, 0, static_cast<size_t>(n));
    return true;
  }
  std::string take(size_t size) {
    std::string text = received_.substr(0, size);
    received_.erase(0, size);
    return text;
  }

  Fd fd_;
  std::string path_;
  std::string received_;
};

std::string jpeg(const std::string& content, size_t size = 0) {
  std::string text = "\xff\xd8\xff" + content;
  text.resize(std::max(size, text.size()), 'x');
  return text + "\xff\xd9";
}

class Playing : public ::testing::Test {
 protected:
  void start(const std::vector<Stream>& streams) {
    auto started = Playback::start(streams, folder_.path() / "data", folder_.path() / "cache");
    ASSERT_TRUE(started) << started.error().message;
    playback_ = std::move(*started);
  }
  void write_frames(int count, size_t size = 0) const {
    for (int i = 1; i <= count; ++i) {
      const std::string name = std::to_string(i);
      folder_.write("data/" + name + ".jpg", jpeg(name, size));
    }
  }
  StreamStats stats() const { return playback_->stats().streams.at(0); }

  testing::TempFolder folder_;
  std::unique_ptr<Playback> playback_;
};

TEST_F(Playing, shows_each_frame_at_its_time) {
  write_frames(4);
  start({{"top", "", StreamKind::video, 4, false}});
  Client client(playback_->url("top"));
  const auto begin = Clock::now();
  client.get();
  EXPECT_NE(client.read_to("\r\n\r\n").find("multipart/x-mixed-replace; boundary="),
            std::string::npos);
  for (int i = 1; i <= 4; ++i) EXPECT_EQ(client.next_frame(), jpeg(std::to_string(i)));
  const auto took = Clock::now() - begin;
  EXPECT_GE(took, milliseconds(750)) << "three intervals";
  EXPECT_EQ(client.next_frame(), "");
  EXPECT_TRUE(playback_->finished());
  EXPECT_EQ(stats().frames_sent, 4U);
}

TEST_F(Playing, begins_again_when_it_loops) {
  write_frames(2);
  start({{"top", "", StreamKind::video, 100, true}});
  Client client(playback_->url("top"));
  client.get();
  client.read_to("\r\n\r\n");
  std::string last;
  std::string frame = client.next_frame();
  while (!(last == jpeg("2") && frame == jpeg("1")) && !frame.empty()) {
    last = frame;
    frame = client.next_frame();
  }
  EXPECT_EQ(frame, jpeg("1"));
  EXPECT_FALSE(playback_->finished());
}

TEST_F(Playing, waits_with_the_first_frame_for_the_first_client) {
  write_frames(2);
  start({{"top", "", StreamKind::video, 4, false}});
  EXPECT_FALSE(playback_->finished());
  Client client(playback_->url("top"));
  client.get();
  client.read_to("\r\n\r\n");
  EXPECT_EQ(client.next_frame(), jpeg("1"));
  while (!client.next_frame().empty()) {
  }
  EXPECT_TRUE(playback_->finished());
  Client late(playback_->url("top"));
  late.get();
  EXPECT_TRUE(late.read_all().starts_with("HTTP/1.1 410 Gone\r\n"));
}

TEST_F(Playing, does_not_begin_for_one_who_only_asks_what_it_is) {
  write_frames(1);
  start({{"top", "", StreamKind::video, 1000, false}});
  Client asker(playback_->url("top"));
  asker.send("HEAD /streams/top HTTP/1.1\r\n\r\n");
  EXPECT_NE(asker.read_all().find("multipart/x-mixed-replace"), std::string::npos);
  Client client(playback_->url("top"));
  client.get();
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 200 OK"));
}

TEST_F(Playing, gives_an_image_for_each_request) {
  write_frames(2);
  start({{"top", "", StreamKind::image, 0.001, true}});
  for (int i = 0; i < 2; ++i) {
    Client client(playback_->url("top"));
    client.get();
    const std::string answer = client.read_all();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n")) << answer;
    EXPECT_TRUE(answer.ends_with("\r\n\r\n" + jpeg("1"))) << answer;
  }
}

TEST_F(Playing, moves_images_on_with_the_time) {
  write_frames(5);
  start({{"top", "", StreamKind::image, 100, false}});
  std::string last;
  for (std::string answer; !answer.starts_with("HTTP/1.1 410");) {
    Client client(playback_->url("top"));
    client.get();
    last = answer;
    answer = client.read_all();
  }
  EXPECT_TRUE(playback_->finished());
  EXPECT_NE(last.find("200 OK"), std::string::npos);
}

TEST_F(Playing, lets_a_slow_client_miss_frames) {
  constexpr size_t kSize = 1U << 18U;
  write_frames(100, kSize);
  start({{"top", "", StreamKind::video, 100, false}});
  Client slow(playback_->url("top"), 65536);
  slow.get();
  Client quick(playback_->url("top"));
  quick.get();
  quick.read_all();
  // What the kernel holds back for a client that does not read is a few frames, not all.
  slow.read_to("\r\n\r\n");
  size_t frames = 0;
  while (!slow.next_frame().empty()) ++frames;
  EXPECT_LT(frames, 20U);
  EXPECT_GT(stats().frames_skipped, 70U);
}

TEST_F(Playing, goes_on_when_a_client_leaves) {
  write_frames(3);
  start({{"top", "", StreamKind::video, 200, true}});
  for (int i = 0; i < 20; ++i) {
    Client client(playback_->url("top"));
    client.get();
    if (i % 2 == 0) client.read_to("\r\n\r\n");
  }
  Client last(playback_->url("top"));
  last.get();
  last.read_to("\r\n\r\n");
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(last.next_frame().empty());
}

TEST_F(Playing, serves_several_streams_at_once) {
  write_frames(4);
  std::vector<Stream> streams;
  for (const char* id : {"a", "b", "c", "d"})
    streams.push_back({id, "", StreamKind::video, 4, false});
  start(streams);
  std::vector<Client> clients;
  clients.reserve(streams.size());
  for (const Stream& stream : streams) clients.emplace_back(playback_->url(stream.id));
  for (Client& client : clients) client.get();
  for (Client& client : clients) {
    client.read_to("\r\n\r\n");
    for (int i = 1; i <= 4; ++i) EXPECT_EQ(client.next_frame(), jpeg(std::to_string(i)));
    EXPECT_EQ(client.next_frame(), "");
  }
  EXPECT_TRUE(playback_->finished());
}

TEST_F(Playing, skips_bad_frames_and_tells) {
  write_frames(2);
  folder_.write("data/0.jpg", "\xff\xd8\xff cut off");
  start({{"top", "", StreamKind::image, 0.001, true}});
  ASSERT_EQ(playback_->notes().size(), 1U);
  EXPECT_NE(playback_->notes()[0].find("stream 'top': 1 of 3 frames are skipped"),
            std::string::npos);
  EXPECT_EQ(stats().bad_frames, 1U);
  Client client(playback_->url("top"));
  client.get();
  EXPECT_TRUE(client.read_all().ends_with(jpeg("1")));
}

TEST_F(Playing, survives_files_that_vanish) {
  write_frames(2);
  start({{"top", "", StreamKind::image, 0.001, true}});
  std::filesystem::remove(folder_.path() / "data/1.jpg");
  Client client(playback_->url("top"));
  client.get();
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 503 "));
  EXPECT_EQ(stats().bad_frames, 1U);
}

TEST_F(Playing, plays_sound_in_real_time_behind_a_header_without_end) {
  const WavFormat format = {8000, 1, 16};
  std::string sound;
  for (int i = 0; i < 4000; ++i) sound += std::to_string(i % 10) + '.';
  folder_.write("data/a.wav", wav_header(format, 8000) + sound);
  start({{"mic", "", StreamKind::audio, 30, false}});
  Client client(playback_->url("mic"));
  const auto begin = Clock::now();
  client.get();
  client.read_to("\r\n\r\n");
  EXPECT_EQ(client.read_bytes(44), wav_header(format, std::nullopt));
  EXPECT_EQ(client.read_all(), sound);
  EXPECT_GE(Clock::now() - begin, milliseconds(400)) << "the last of five pieces begins then";
  EXPECT_TRUE(playback_->finished());
}

TEST_F(Playing, gives_a_second_of_sound_as_a_file) {
  const WavFormat format = {8000, 2, 16};
  const std::string sound(3200, 's');
  folder_.write("data/a.wav", wav_header(format, 3200) + sound);
  start({{"mic", "", StreamKind::audio, 30, true}});
  Client client(playback_->url("mic") + "/chunk");
  client.get();
  client.read_to("\r\n\r\n");
  EXPECT_EQ(client.read_all(), wav_header(format, 32000) + std::string(32000, 's'));
}

TEST_F(Playing, refuses_what_it_does_not_serve) {
  write_frames(1);
  start({{"top", "", StreamKind::image, 1, true}});
  const auto answer = [&](const std::string& request) {
    Client client(playback_->url("top"));
    client.send(request);
    const std::string text = client.read_all();
    return text.substr(0, text.find('\r'));
  };
  EXPECT_EQ(answer("GET /streams/other HTTP/1.1\r\n\r\n"), "HTTP/1.1 404 Not Found");
  EXPECT_EQ(answer("GET /streams/top/chunk HTTP/1.1\r\n\r\n"), "HTTP/1.1 404 Not Found");
  EXPECT_EQ(answer("GET /streams/../data/1.jpg HTTP/1.1\r\n\r\n"), "HTTP/1.1 404 Not Found");
  EXPECT_EQ(answer("POST /streams/top HTTP/1.1\r\nContent-Length: 0\r\n\r\n"),
            "HTTP/1.1 405 Method Not Allowed");
  EXPECT_EQ(answer("garbage\r\n\r\n"), "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(answer("HEAD /streams/top HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 OK");
  EXPECT_EQ(answer("GET /streams/t%6fp?x=1 HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 OK");
}

TEST_F(Playing, bounds_the_length_of_a_request) {
  write_frames(1);
  start({{"top", "", StreamKind::image, 1, true}});
  Client client(playback_->url("top"));
  client.send("GET / HTTP/1.1\r\nX: " + std::string(100'000, 'x'));
  EXPECT_EQ(client.read_all().find("200 OK"), std::string::npos);
}

TEST_F(Playing, bounds_the_number_of_clients) {
  write_frames(1);
  start({{"top", "", StreamKind::image, 1, true}});
  std::vector<Client> clients;
  for (size_t i = 0; i < StreamServer::kMaxClients; ++i)
    clients.emplace_back(playback_->url("top"));
  Client more(playback_->url("top"));
  more.get();
  EXPECT_EQ(more.read_all(), "");
  EXPECT_EQ(playback_->stats().refused_clients, 1U);
  clients.front().get();
  EXPECT_TRUE(clients.front().read_all().ends_with(jpeg("1")));
  Client again(playback_->url("top"));
  again.get();
  EXPECT_TRUE(again.read_all().ends_with(jpeg("1")));
}

TEST_F(Playing, ends_all_connections_with_it) {
  write_frames(1);
  start({{"top", "", StreamKind::video, 100, true}});
  Client client(playback_->url("top"));
  client.get();
  client.read_to("\r\n\r\n");
  playback_.reset();
  client.read_all();
  SUCCEED() << "else the client would have waited in vain";
}

TEST_F(Playing, tells_what_it_cost) {
  write_frames(3);
  start({{"top", "", StreamKind::video, 1000, false}});
  Client client(playback_->url("top"));
  client.get();
  client.read_all();
  EXPECT_GT(playback_->stats().cpu_seconds, 0);
  EXPECT_LT(playback_->stats().cpu_seconds, 1);
}

TEST_F(Playing, says_what_it_cannot_play) {
  write_frames(1);
  folder_.write("data/bad/x.jpg", "x");
  const auto error = [&](const std::vector<Stream>& streams,
                         const std::string& address = "127.0.0.1") {
    PlaybackOptions options;
    options.address = address;
    const auto started =
        Playback::start(streams, folder_.path() / "data", folder_.path() / "cache", options);
    return started ? "" : started.error().message;
  };
  EXPECT_NE(error({{"a", ""}, {"a", ""}}).find("have the id 'a'"), std::string::npos);
  EXPECT_NE(error({{"", ""}}).find("1 to 128 characters"), std::string::npos);
  EXPECT_NE(error({{"a", "", StreamKind::video, 0}}).find("frames per second"), std::string::npos);
  EXPECT_NE(error({{"a", "bad"}}).find("hold no whole picture"), std::string::npos);
  EXPECT_NE(error({{"a", "1.jpg"}}, "nowhere").find("no address"), std::string::npos);
}

TEST_F(Playing, may_begin_before_its_address_is_there) {
  write_frames(1);
  PlaybackOptions options;
  options.address = "192.0.2.1";
  const auto started =
      Playback::start({{"a", "1.jpg"}}, folder_.path() / "data", folder_.path() / "cache", options);
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_TRUE((*started)->url("a").starts_with("http://192.0.2.1:"));
}

}  // namespace
}  // namespace assay::launch
