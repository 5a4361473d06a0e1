#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "ascendc/elements.h"
#include "ascendc/instructions.h"
#include "atc/base/math.h"

// Functions over the rows of a matrix in the Unified Buffer: softmaxes, normalisations, sums. Values are
// computed in double and rounded once; time is that of the instructions that a kernel would use.
namespace atc::ascendc {
namespace {

constexpr std::int64_t kBlock = 32, kRepeatBytes = 256;

constexpr const char* kNames[] = {
    "SoftMax",    "SimpleSoftMax", "SoftmaxFlash", "SoftmaxFlashV2", "SoftmaxGrad", "SoftmaxGradFront",
    "LayerNorm",  "RmsNorm",       "Sum",          "Mean",           "ReduceMax",   "ReduceMin",
    "ReduceProd", "CumSum",        "Broadcast"};

/// Passes over the matrix, and instructions for each row (the steps of a reduction).
struct Cost {
  int passes, row;
};
constexpr Cost kCosts[] = {{6, 4}, {4, 0}, {7, 6}, {5, 6}, {4, 2}, {2, 2}, {7, 4}, {4, 2},
                           {1, 1}, {1, 2}, {1, 1}, {1, 1}, {2, 1}, {2, 0}, {1, 1}};

/// An operand as rows of elements.
class View {
 public:
  View(Block& b, const AtcOperand& o, std::int64_t pitch)
      : b_(b), o_(o), pitch_(pitch), size_(bits_of(o.type) / 8), half_(o.type == ATC_F16) {}
  bool there() const { return o_.local.bytes != 0; }
  double get(std::int64_t row, std::int64_t col) const {
    const std::byte* at = b_.bytes(o_.local, (row * pitch_ + col) * size_);
    if (half_) {
      Half v;
      std::memcpy(&v, at, sizeof v);
      return static_cast<double>(value_of(v));
    }
    float v = 0.0f;
    std::memcpy(&v, at, sizeof v);
    return static_cast<double>(v);
  }
  void set(std::int64_t row, std::int64_t col, double value) {
    std::byte* at = b_.bytes(o_.local, (row * pitch_ + col) * size_);
    if (half_) {
      const Half v = stored<Half>(static_cast<float>(value));
      std::memcpy(at, &v, sizeof v);
    } else {
      const auto v = static_cast<float>(value);
      std::memcpy(at, &v, sizeof v);
    }
  }
  /// Fills a whole row.
  void set_stat(std::int64_t row, double value) {
    if (!there()) return;
    for (std::int64_t i = 0; i < pitch_; ++i) set(row, i, value);
  }
  /// Checks that `rows` x `cols` are in the tensor, and logs the access.
  void use(const AtcSite& site, const char* what, std::int64_t rows, std::int64_t cols, bool write) {
    if (!there() || rows <= 0 || cols <= 0) return;
    const std::int64_t end = ((rows - 1) * pitch_ + cols) * size_;
    b_.check_aligned(site, what, o_.local, kBlock);
    b_.check_extent(site, what, o_.local, 0, end);
    if (!b_.checks) return;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t at = r * pitch_ * size_, n = cols * size_;
      b_.touch(site, what, Pipe::V, o_.local, at, n, write);
      if (write)
        b_.shadow(o_.local.memory).set_written(o_.local.offset + at, n);
      else
        b_.need_written(site, what, o_.local, at, n);
    }
  }
  std::int64_t size() const { return size_; }

 private:
  Block& b_;
  const AtcOperand& o_;
  std::int64_t pitch_, size_;
  bool half_;
};

/// One call on its way.
class Rows {
 public:
  Rows(Block& b, const AtcSite& site, const AtcRows& r) : b_(b), site_(site), r_(r), what_(kNames[r.op]) {}

  void run() {
    switch (r_.op) {
      case ATC_ROW_SOFTMAX:
      case ATC_ROW_SIMPLE_SOFTMAX:
      case ATC_ROW_SOFTMAX_FLASH:
      case ATC_ROW_SOFTMAX_FLASH_V2:
        return softmax();
      case ATC_ROW_SOFTMAX_GRAD:
      case ATC_ROW_SOFTMAX_GRAD_FRONT:
        return gradient();
      case ATC_ROW_LAYER_NORM:
      case ATC_ROW_RMS_NORM:
        return normalise();
      case ATC_ROW_BROADCAST:
        return broadcast();
      case ATC_ROW_CUMSUM:
        return running_sums();
      default:
        return reduce_rows();
    }
  }

 private:
  View matrix(const AtcOperand& o, bool write) { return view(o, r_.pitch, r_.rows, r_.cols, write); }
  View stat(const AtcOperand& o, bool write) {
    if ((r_.flag & ATC_ROW_PLAIN_STATS) != 0) return view(o, 1, r_.rows, 1, write);
    const std::int64_t n = kBlock * 8 / bits_of(o.type);
    return view(o, n, r_.rows, n, write);
  }
  View view(const AtcOperand& o, std::int64_t pitch, std::int64_t rows, std::int64_t cols, bool write) {
    View v(b_, o, pitch);
    v.use(site_, what_, rows, cols, write);
    return v;
  }

  void softmax() {
    const bool simple = r_.op == ATC_ROW_SIMPLE_SOFTMAX, flash = r_.op == ATC_ROW_SOFTMAX_FLASH,
               flash2 = r_.op == ATC_ROW_SOFTMAX_FLASH_V2,
               update = (flash || flash2) && (r_.flag & ATC_ROW_UPDATE) != 0;
    View x = matrix(r_.in[0], false);
    View in_sum = stat(r_.in[1], false), in_max = stat(r_.in[2], false);
    View y = matrix(r_.out[0], true), sum = stat(r_.out[1], true), max = stat(r_.out[2], true),
         exp_max = stat(r_.out[3], true);
    for (std::int64_t i = 0; i < r_.rows; ++i) {
      double m = -std::numeric_limits<double>::infinity(), total = 0.0, old_max = 0.0, old_sum = 0.0;
      if (simple || update) {
        old_max = in_max.get(i, 0);
        old_sum = in_sum.get(i, 0);
      }
      if (simple) {
        m = old_max;
        total = old_sum;
      } else {
        for (std::int64_t j = 0; j < r_.cols; ++j) m = std::max(m, x.get(i, j));
        if (update) m = std::max(m, old_max);
        for (std::int64_t j = 0; j < r_.cols; ++j) total += std::exp(x.get(i, j) - m);
      }
      double kept = update ? std::exp(old_max - m) : 0.0;
      if (update) total += kept * old_sum;
      const double divisor = flash2 ? 1.0 : total;
      for (std::int64_t j = 0; j < r_.cols; ++j) y.set(i, j, std::exp(x.get(i, j) - m) / divisor);
      if (flash && update) kept = kept * old_sum / total;
      sum.set_stat(i, total);
      max.set_stat(i, m);
      if (update) exp_max.set_stat(i, kept);
    }
  }

  void gradient() {
    View dy = matrix(r_.in[0], false), y = matrix(r_.in[1], false);
    const bool front = r_.op == ATC_ROW_SOFTMAX_GRAD_FRONT;
    View out = front ? stat(r_.out[0], true) : matrix(r_.out[0], true);
    for (std::int64_t i = 0; i < r_.rows; ++i) {
      double dot = 0.0;
      for (std::int64_t j = 0; j < r_.cols; ++j) dot += dy.get(i, j) * y.get(i, j);
      if (front) {
        out.set_stat(i, dot);
        continue;
      }
      for (std::int64_t j = 0; j < r_.cols; ++j) out.set(i, j, y.get(i, j) * (dy.get(i, j) - dot));
    }
  }

  void normalise() {
    const bool layer = r_.op == ATC_ROW_LAYER_NORM;
    View x = matrix(r_.in[0], false);
    View gamma = view(r_.in[1], r_.cols, 1, r_.cols, false),
         beta = view(r_.in[2], r_.cols, 1, r_.cols, false);
    View y = matrix(r_.out[0], true), mean = view(r_.out[1], r_.rows, 1, r_.rows, true),
         variance = view(r_.out[2], r_.rows, 1, r_.rows, true);
    const auto n = static_cast<double>(r_.cols);
    for (std::int64_t i = 0; i < r_.rows; ++i) {
      double average = 0.0, square = 0.0;
      if (layer)
        for (std::int64_t j = 0; j < r_.cols; ++j) average += x.get(i, j) / n;
      for (std::int64_t j = 0; j < r_.cols; ++j) square += std::pow(x.get(i, j) - average, 2) / n;
      const double scale = 1.0 / std::sqrt(square + r_.scalar);
      for (std::int64_t j = 0; j < r_.cols; ++j)
        y.set(i, j,
              (x.get(i, j) - average) * scale * gamma.get(0, j) + (beta.there() ? beta.get(0, j) : 0.0));
      if (mean.there()) mean.set(0, i, average);
      if (variance.there()) variance.set(0, i, square);
    }
  }

  void reduce_rows() {
    View x = matrix(r_.in[0], false);
    const bool columns = (r_.flag & ATC_ROW_COLUMNS) != 0;
    const std::int64_t results = columns ? r_.cols : r_.rows, n = columns ? r_.rows : r_.cols;
    View y = view(r_.out[0], results, 1, results, true);
    for (std::int64_t i = 0; i < results; ++i) {
      double v = r_.op == ATC_ROW_MAX    ? -std::numeric_limits<double>::infinity()
                 : r_.op == ATC_ROW_MIN  ? std::numeric_limits<double>::infinity()
                 : r_.op == ATC_ROW_PROD ? 1.0
                                         : 0.0;
      for (std::int64_t j = 0; j < n; ++j) {
        const double e = columns ? x.get(j, i) : x.get(i, j);
        v = r_.op == ATC_ROW_MAX    ? std::max(v, e)
            : r_.op == ATC_ROW_MIN  ? std::min(v, e)
            : r_.op == ATC_ROW_PROD ? v * e
                                    : v + e;
      }
      y.set(0, i, r_.op == ATC_ROW_MEAN ? v / static_cast<double>(n) : v);
    }
  }

  void running_sums() {
    View x = matrix(r_.in[0], false), y = matrix(r_.out[0], true);
    const bool columns = (r_.flag & ATC_ROW_COLUMNS) != 0;
    for (std::int64_t i = 0; i < (columns ? r_.cols : r_.rows); ++i) {
      double sum = 0.0;
      for (std::int64_t j = 0; j < (columns ? r_.rows : r_.cols); ++j) {
        const std::int64_t row = columns ? j : i, col = columns ? i : j;
        sum += x.get(row, col);
        y.set(row, col, sum);
      }
    }
  }

  void broadcast() {
    const bool columns = (r_.flag & ATC_ROW_COLUMNS) != 0;
    const std::int64_t values = columns ? r_.cols : r_.rows;
    View x = view(r_.in[0], values, 1, values, false), y = matrix(r_.out[0], true);
    for (std::int64_t i = 0; i < r_.rows; ++i)
      for (std::int64_t j = 0; j < r_.cols; ++j) y.set(i, j, x.get(0, columns ? j : i));
  }

  Block& b_;
  const AtcSite& site_;
  const AtcRows& r_;
  const char* what_;
};

}  // namespace

void rows(Block& b, const AtcSite& site, const AtcRows& r) {
  b.begin_instruction();
  if (r.op >= ATC_ROW_OP_COUNT) b.stop(site, "unsupported", "a function over rows that this simulator lacks");
  if (r.op == ATC_ROW_QUANT || r.op == ATC_ROW_DEQUANT) return quantized_rows(b, site, r);
  if (r.op == ATC_ROW_TOP_K) return top_k_rows(b, site, r);
  const char* what = kNames[r.op];
  b.require_unit(site, what, false);
  const std::uint8_t type = r.in[0].type;
  for (const AtcOperand* o : {&r.out[0], &r.out[1], &r.out[2], &r.out[3], &r.in[0], &r.in[1], &r.in[2]})
    if (o->local.bytes != 0 && o->type != ATC_F32 && o->type != ATC_F16)
      b.stop(site, "dtype",
             std::string(what) + " does not take " + std::string(type_name(o->type)) + ": half and float");
  if (r.rows <= 0 || r.cols <= 0) return;
  if (b.checks && r.cols > r.pitch)
    b.fault(site, "count", [&] {
      return std::string(what) + ": " + std::to_string(r.cols) + " columns of rows of " +
             std::to_string(r.pitch);
    });
  Rows(b, site, r).run();
  const Cost cost = kCosts[r.op];
  // Halves are widened and narrowed on the way.
  const int passes = cost.passes + (type == ATC_F16 ? 2 : 0);
  const std::int64_t steps = ceil_div(r.cols * 4, kRepeatBytes);
  b.pipes.issue(Pipe::V, kIssue * passes + r.rows * (steps * passes + cost.row), what,
                r.rows * r.cols * bits_of(type) / 8);
}

}  // namespace atc::ascendc
