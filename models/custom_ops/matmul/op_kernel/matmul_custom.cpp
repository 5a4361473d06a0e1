// C = A x B in fp16 with fp32 sums, by the cube's own instructions: tiles of A and B go from Global Memory to L1 in
// fractal order (Nd2Nz), from there to L0A and L0B (LoadData), are multiplied (Mmad), summed over k in L0C and written row by
// row (Fixpipe). Two buffers each: the next tiles come in while these are multiplied. Any m, k, n: tails are padded with
// zeros in L1 where they count (k), and left out of the result elsewhere.
#include "kernel_operator.h"
using namespace AscendC;

class KernelMatmul {
 public:
  template <class Tiling>
  __aicore__ inline void Process(GM_ADDR a, GM_ADDR b, GM_ADDR c, const Tiling& t) {
    m_ = t.m, k_ = t.k, n_ = t.n;
    a_.SetGlobalBuffer((__gm__ half*)a, static_cast<uint64_t>(m_) * k_);
    b_.SetGlobalBuffer((__gm__ half*)b, static_cast<uint64_t>(k_) * n_);
    c_.SetGlobalBuffer((__gm__ float*)c, static_cast<uint64_t>(m_) * n_);
    pipe_.InitBuffer(inA1_, 2, t.tileM * t.tileK * sizeof(half));
    pipe_.InitBuffer(inB1_, 2, t.tileK * t.tileN * sizeof(half));
    pipe_.InitBuffer(inA2_, 2, t.tileM * t.tileK * sizeof(half));
    pipe_.InitBuffer(inB2_, 2, t.tileK * t.tileN * sizeof(half));
    pipe_.InitBuffer(out_, 2, t.tileM * t.tileN * sizeof(float));
    const uint32_t columns = (n_ + t.tileN - 1) / t.tileN, tiles = (m_ + t.tileM - 1) / t.tileM * columns;
    for (uint32_t tile = GetBlockIdx(); tile < tiles; tile += GetBlockNum()) {
      const uint32_t row = tile / columns * t.tileM, column = tile % columns * t.tileN;
      rows_ = m_ - row < t.tileM ? m_ - row : t.tileM;
      columns_ = n_ - column < t.tileN ? n_ - column : t.tileN;
      Tile(row, column, t.tileK);
    }
  }

 private:
  static __aicore__ inline uint32_t Blocks(uint32_t v) { return (v + 15) / 16; }

  __aicore__ inline void Tile(uint32_t row, uint32_t column, uint32_t step) {
    LocalTensor<float> sums = out_.AllocTensor<float>();
    for (uint32_t at = 0; at < k_; at += step) {
      depth_ = k_ - at < step ? k_ - at : step;
      CopyIn(row, column, at);
      SplitA();
      SplitB();
      Multiply(sums, at == 0);
    }
    out_.EnQue(sums);
    sums = out_.DeQue<float>();
    FixpipeParamsV220 p;
    p.nSize = static_cast<uint16_t>(columns_);
    p.mSize = static_cast<uint16_t>(rows_);
    p.srcStride = static_cast<uint16_t>(Blocks(rows_) * 16);
    p.dstStride = n_;
    p.ndNum = 1;
    p.srcNdStride = 0;
    p.dstNdStride = 0;
    Fixpipe(c_[static_cast<uint64_t>(row) * n_ + column], sums, p);
    out_.FreeTensor(sums);
  }
  // [rows][width] of Global Memory to [width / 16][rows][16] of L1.
  __aicore__ inline void ToFractals(const LocalTensor<half>& to, const GlobalTensor<half>& from, uint32_t rows, uint32_t width,
                                    uint32_t pitch) {
    if (rows % 16 != 0 || width % 16 != 0) {
      InitConstValueParams<half> zero;
      zero.repeatTimes = 1;
      zero.blockNum = static_cast<uint16_t>(Blocks(width) * Blocks(rows) * 16);
      zero.dstGap = 0;
      zero.initValue = static_cast<half>(0);
      InitConstValue(to, zero);
      PipeBarrier<PIPE_MTE2>();
    }
    Nd2NzParams p;
    p.ndNum = 1;
    p.nValue = static_cast<uint16_t>(rows);
    p.dValue = static_cast<uint16_t>(width);
    p.srcNdMatrixStride = 0;
    p.srcDValue = static_cast<uint16_t>(pitch);
    p.dstNzC0Stride = static_cast<uint16_t>(Blocks(rows) * 16);
    p.dstNzNStride = 1;
    p.dstNzMatrixStride = 0;
    DataCopy(to, from, p);
  }
  __aicore__ inline void CopyIn(uint32_t row, uint32_t column, uint32_t at) {
    LocalTensor<half> a1 = inA1_.AllocTensor<half>(), b1 = inB1_.AllocTensor<half>();
    ToFractals(a1, a_[static_cast<uint64_t>(row) * k_ + at], rows_, depth_, k_);
    ToFractals(b1, b_[static_cast<uint64_t>(at) * n_ + column], depth_, columns_, n_);
    inA1_.EnQue(a1);
    inB1_.EnQue(b1);
  }
  // L1 is [k / 16][m][16], L0A [m / 16][k / 16][16][16].
  __aicore__ inline void SplitA() {
    LocalTensor<half> a1 = inA1_.DeQue<half>(), a2 = inA2_.AllocTensor<half>();
    for (uint32_t i = 0; i < Blocks(rows_); ++i) {
      LoadData2DParams p;
      p.startIndex = static_cast<uint16_t>(i);
      p.repeatTimes = static_cast<uint8_t>(Blocks(depth_));
      p.srcStride = static_cast<uint16_t>(Blocks(rows_));
      p.ifTranspose = false;
      LoadData(a2[i * 256 * Blocks(depth_)], a1, p);
    }
    inA2_.EnQue(a2);
    inA1_.FreeTensor(a1);
  }
  // L1 is [n / 16][k][16], L0B [k / 16][n / 16][16 n][16 k]: each fractal is turned.
  __aicore__ inline void SplitB() {
    LocalTensor<half> b1 = inB1_.DeQue<half>(), b2 = inB2_.AllocTensor<half>();
    for (uint32_t i = 0; i < Blocks(depth_); ++i) {
      LoadData2DParams p;
      p.startIndex = static_cast<uint16_t>(i);
      p.repeatTimes = static_cast<uint8_t>(Blocks(columns_));
      p.srcStride = static_cast<uint16_t>(Blocks(depth_));
      p.ifTranspose = true;
      LoadData(b2[i * 256 * Blocks(columns_)], b1, p);
    }
    inB2_.EnQue(b2);
    inB1_.FreeTensor(b1);
  }
  __aicore__ inline void Multiply(const LocalTensor<float>& sums, bool first) {
    LocalTensor<half> a2 = inA2_.DeQue<half>(), b2 = inB2_.DeQue<half>();
    MmadParams p;
    p.m = static_cast<uint16_t>(Blocks(rows_) * 16);
    p.n = static_cast<uint16_t>(Blocks(columns_) * 16);
    p.k = static_cast<uint16_t>(Blocks(depth_) * 16);
    p.cmatrixInitVal = first;
    Mmad(sums, a2, b2, p);
    PipeBarrier<PIPE_M>();
    inA2_.FreeTensor(a2);
    inB2_.FreeTensor(b2);
  }

  TPipe pipe_;
  TQue<QuePosition::A1, 1> inA1_;
  TQue<QuePosition::A2, 1> inA2_;
  TQue<QuePosition::B1, 1> inB1_;
  TQue<QuePosition::B2, 1> inB2_;
  TQue<QuePosition::CO1, 1> out_;
  GlobalTensor<half> a_, b_;
  GlobalTensor<float> c_;
  uint32_t m_ = 0, k_ = 0, n_ = 0, rows_ = 0, columns_ = 0, depth_ = 0;
};

extern "C" __global__ __aicore__ void matmul_custom(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
  GET_TILING_DATA(data, tiling);
  KernelMatmul kernel;
  kernel.Process(a, b, c, data);
}
