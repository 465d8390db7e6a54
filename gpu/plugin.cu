/// The plug-in's table (src/device/plugin_abi.h): cards, and scans by blocks of first features; passes stand
/// in passes.cu.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "device.hpp"
#include "device/plugin_abi.h"
#include "passes.hpp"
#include "scan_kernels.cuh"

namespace gpu {

void rank_k(const SubspectraDevice& device, int64_t n, int64_t k, double times, const double* factor,
            int64_t factor_lead, double before, double* out, int64_t lead) {
  if (device.products.loaded()) {
    if (!device.products.rank_k(n, k, times, factor, factor_lead, before, out, lead))
      fail(SUBSPECTRA_DEVICE_FAILED, "cuBLAS could not make the product of %lld features",
           static_cast<long long>(n));
    return;
  }
  const auto tiles = static_cast<unsigned int>((n + 63) / 64);
  product_kernel<<<dim3(tiles, tiles), 256, 0, device.stream>>>(factor, k, factor_lead, n, times, before, out,
                                                                lead);
  check(GPU(GetLastError)(), "a product");
}

namespace {

constexpr int64_t kTermBytes = int64_t{1} << 30;  ///< terms of a block of first features, at most
constexpr int64_t kHits = int64_t{1} << 20;
constexpr int64_t kSets = int64_t{1} << 18;  ///< sets handed out by a call, at most

int64_t padded(int64_t n) { return padded_to(n, kPadding); }
int arrays_of(int form) { return form == kDefinite ? 2 : form == kRatio ? 4 : 5; }
int matrices_of(int form) { return form == kDefinite ? 1 : 2; }
int64_t term_rows(int form, int64_t lead) {
  return std::clamp<int64_t>(kTermBytes / (arrays_of(form) * lead * 8), 16, std::min<int64_t>(lead, 32768));
}
uint64_t bytes_of(const SubspectraScanProblem& problem, int size) {
  const int64_t lead = padded(problem.features), matrix = lead * lead * 8 * matrices_of(problem.form);
  int64_t bytes = matrix * (size >= 4 ? 2 : 1);
  if (problem.rows == 0) bytes += lead * problem.features * 8;
  bytes += problem.features * (problem.rows + problem.directions + 8) * 8;
  if (size >= 3) bytes += term_rows(problem.form, lead) * lead * arrays_of(problem.form) * 8 + kHits * 16;
  bytes += kSets * kMaxSize * 4 + (int64_t{64} << 20);
  return static_cast<uint64_t>(bytes);
}

struct LevelHeld {
  Held<double> p, q, q_diagonal;
  Held<int8_t> left_out;
  Held<double> scalars;  ///< smallest, q_largest, limit
};

__global__ void reset_level_kernel(double* scalars, const double* of_base) {
  scalars[0] = 1.0;
  scalars[1] = of_base[1];  // what is left of Q is known no better than what it was taken from
}

}  // namespace
}  // namespace gpu

struct SubspectraScan {
  SubspectraDevice* device = nullptr;
  int form = 0, size = 2;
  int64_t n = 0, lead = 0, rows = 0, r = 0;
  double rounding = 0.0, dependent = 0.0;
  gpu::Held<double> factor, direction, added, given;
  gpu::LevelHeld base, reduced;
  gpu::Held<double> scale, p_row, q_row, row_scale;
  gpu::Held<double> terms;
  gpu::Held<double2> factors;
  gpu::Held<gpu::Hit> hits;
  gpu::Held<unsigned int> hits_found;
  gpu::Held<int32_t> sets;
  gpu::Held<unsigned long long> sets_found;
  gpu::Held<gpu::BaseFacts> facts;
  double eta = 0.0, limit = 0.0;
  bool prepared = false;
  std::vector<int32_t> loose;  ///< features that are at the limit by themselves
};

namespace gpu {
namespace {

constexpr int kBlock = 256;
unsigned int blocks_for(int64_t count) { return static_cast<unsigned int>((count + kBlock - 1) / kBlock); }

Level level_of(const SubspectraScan& scan, const LevelHeld& held, int pivot) {
  Level level{};
  level.p = held.p.get();
  level.q = held.q.get();
  level.q_diagonal = held.q_diagonal.get();
  level.left_out = held.left_out.get();
  level.smallest = pivot >= 0 ? held.scalars.get() : nullptr;
  level.q_largest = held.scalars.get() + 1;
  level.limit = held.scalars.get() + 2;
  level.eta = scan.eta;
  level.n = scan.n;
  level.lead = scan.lead;
  level.first = pivot + 1;
  level.pivot = pivot;
  return level;
}
Base base_of(const SubspectraScan& scan) {
  return {scan.base.p.get(),        scan.base.q.get(), scan.scale.get(), scan.direction.get(),
          static_cast<int>(scan.r), 1.0 / scan.limit,  scan.dependent,   scan.lead};
}

void take_level(LevelHeld& held, const SubspectraScan& scan, const char* what) {
  held.p.take(scan.lead * scan.lead, what);
  set_zero(held.p, scan.device->stream);
  if (matrices_of(scan.form) == 2) {
    held.q.take(scan.lead * scan.lead, what);
    set_zero(held.q, scan.device->stream);
  }
  held.q_diagonal.take(scan.lead, what);
  set_zero(held.q_diagonal, scan.device->stream);
  held.left_out.take(scan.lead, what);
  held.scalars.take(4, what);
}

/// out = times F'F + before out, upper triangle by rows.
void rank_k(const SubspectraScan& scan, int64_t k, double times, const Held<double>& factor, double before,
            double* out) {
  gpu::rank_k(*scan.device, scan.n, k, times, factor.get(), k, before, out, scan.lead);
}

/// B into `out`, upper triangle by rows.
void make_b(const SubspectraScan& scan, double* out) {
  const auto stream = scan.device->stream;
  if (scan.rows > 0) {
    rank_k(scan, scan.rows, 1.0, scan.factor, 0.0, out);
    if (scan.added.get() != nullptr)
      add_diagonal_kernel<<<blocks_for(scan.n), kBlock, 0, stream>>>(out, scan.lead, scan.n,
                                                                     scan.added.get());
    check(GPU(GetLastError)(), "the diagonal");
    return;
  }
  check(GPU(MemcpyAsync)(out, scan.given.get(), static_cast<size_t>(scan.lead * scan.n) * 8,
                         GPU(MemcpyDeviceToDevice), stream),
        "a copy");
}

template <int kForm>
void prepare(SubspectraScan& scan, double limit) {
  const auto stream = scan.device->stream;
  scan.limit = limit;
  // Two classes divide what they subtract by what is left of it: eta is known when that is.
  scan.eta = std::max(2.5 * scan.rounding, 0x1p-49);
  double *p = scan.base.p.get(), *q = scan.base.q.get();
  make_b(scan, p);
  if (kForm == kDefinite) rank_k(scan, scan.r, -1.0 / limit, scan.direction, 1.0, p);
  if (kForm == kRatio) {
    check(GPU(MemcpyAsync)(q, p, static_cast<size_t>(scan.lead * scan.n) * 8, GPU(MemcpyDeviceToDevice),
                           stream),
          "a copy");
    rank_k(scan, scan.r, 1.0, scan.direction, 1.0, p);
  }
  if (kForm == kTrace) rank_k(scan, scan.r, 1.0, scan.direction, 0.0, q);
  const BaseFacts start{1e300, 0.0, 0};
  check(GPU(MemcpyAsync)(scan.facts.get(), &start, sizeof start, GPU(MemcpyHostToDevice), stream), "a copy");
  Level level = level_of(scan, scan.base, -1);
  base_diagonal_kernel<kForm>
      <<<blocks_for(scan.n), kBlock, 0, stream>>>(level, scan.scale.get(), scan.facts.get());
  const auto layers = static_cast<unsigned int>((scan.n + 65534) / 65535);
  base_scale_kernel<kForm>
      <<<dim3(blocks_for(scan.n), static_cast<unsigned int>(std::min<int64_t>(scan.n, 65535)), layers),
         kBlock, 0, stream>>>(level, scan.scale.get(), scan.facts.get());
  check(GPU(GetLastError)(), "scaling the matrices");
  BaseFacts facts{};
  std::vector<int8_t> left_out(static_cast<size_t>(scan.n));
  check(GPU(MemcpyAsync)(&facts, scan.facts.get(), sizeof facts, GPU(MemcpyDeviceToHost), stream), "a copy");
  check(GPU(MemcpyAsync)(left_out.data(), scan.base.left_out.get(), left_out.size(), GPU(MemcpyDeviceToHost),
                         stream),
        "a copy");
  check(GPU(StreamSynchronize)(stream), "making the matrices");
  if (facts.broken > 0)
    fail(SUBSPECTRA_DEVICE_UNSUITED, "%u entries of the matrices are no numbers", facts.broken);
  scan.loose.clear();
  for (size_t j = 0; j < left_out.size(); ++j)
    if (left_out[j] != 0) scan.loose.push_back(static_cast<int32_t>(j));
  if (scan.loose.size() > 256)
    fail(SUBSPECTRA_DEVICE_UNSUITED, "%zu features reach the limit, or nearly, by themselves",
         scan.loose.size());
  if (static_cast<int64_t>(scan.loose.size()) == scan.n) facts.smallest = 1.0;
  const double smallest = kForm == kDefinite ? facts.smallest : 1.0;
  scan.eta = std::max(2.5 * scan.rounding / smallest, 0x1p-49);
  if (!(scan.eta <= 1e-9))
    fail(SUBSPECTRA_DEVICE_UNSUITED,
         "entries of the matrices are known to %.1g only, which settles too little", scan.eta);
  const double scalars[3] = {1.0, facts.q_largest, limit};
  check(GPU(MemcpyAsync)(scan.base.scalars.get(), scalars, sizeof scalars, GPU(MemcpyHostToDevice), stream),
        "a copy");
  check(GPU(StreamSynchronize)(stream), "a copy");
  scan.prepared = true;
}

/// Triples of a level, first features [begin, end).
template <int kForm>
void triples(SubspectraScan& scan, const Level& level, int64_t begin, int64_t end, const SetList& list) {
  using S = Shape<kForm>;
  const auto stream = scan.device->stream;
  constexpr size_t kShared = static_cast<size_t>(kStages * kStageNumbers<kForm>) * sizeof(double);
  check(GPU(FuncSetAttribute)(reinterpret_cast<const void*>(triples_kernel<kForm>),
                              GPU(FuncAttributeMaxDynamicSharedMemorySize), static_cast<int>(kShared)),
        "shared memory");
  const int64_t most = scan.factors.count();
  const HitList hits{scan.hits.get(), scan.hits_found.get(), static_cast<unsigned int>(kHits)};
  for (int64_t at = begin; at < end; at += most) {
    const int64_t rows = std::min(most, end - at);
    const Terms terms{scan.terms.get(), scan.factors.get(), most, scan.lead};
    check(GPU(MemsetAsync)(scan.hits_found.get(), 0, sizeof(unsigned int), stream), "clearing memory");
    terms_kernel<kForm><<<dim3(blocks_for(scan.lead), static_cast<unsigned int>(rows)), kBlock, 0, stream>>>(
        level, base_of(scan), static_cast<int>(at), terms, list);
    const int64_t tiles = (scan.n + S::kTile - 1) / S::kTile,
                  first_tile = std::min(tiles - 1, (at + 1) / S::kTile), left = tiles - first_tile;
    const int64_t pairs = left * (left + 1) / 2;
    // Parts of a few hundred first features where there are tiles enough for the card, else smaller ones.
    int64_t part = 256;
    while (part > 32 && pairs * ((rows + part - 1) / part) < 1500) part /= 2;
    triples_kernel<kForm>
        <<<dim3(static_cast<unsigned int>(pairs), static_cast<unsigned int>((rows + part - 1) / part)),
           kThreads, kShared, stream>>>(level, static_cast<int>(at), static_cast<int>(rows),
                                        static_cast<int>(part), terms, static_cast<int>(tiles), hits, list);
    expand_kernel<kForm><<<132, kBlock, 0, stream>>>(level, base_of(scan), static_cast<int>(at),
                                                     static_cast<int>(rows), terms, hits, list);
    check(GPU(GetLastError)(), "a scan");
  }
}

template <int kForm>
void fours(SubspectraScan& scan, int64_t begin, int64_t end, const SetList& list) {
  const auto stream = scan.device->stream;
  const Level from = level_of(scan, scan.base, -1);
  for (int64_t h = begin; h < std::min(end, scan.n - 3); ++h) {
    const Level to = level_of(scan, scan.reduced, static_cast<int>(h));
    reset_level_kernel<<<1, 1, 0, stream>>>(scan.reduced.scalars.get(), scan.base.scalars.get());
    reduce_vectors_kernel<kForm><<<blocks_for(scan.n), kBlock, 0, stream>>>(
        from, base_of(scan), static_cast<int>(h), to, scan.p_row.get(), scan.q_row.get(),
        scan.row_scale.get(), list);
    reduce_matrix_kernel<kForm>
        <<<dim3(blocks_for(scan.n), static_cast<unsigned int>(scan.n - h - 1)), kBlock, 0, stream>>>(
            from, static_cast<int>(h), to, scan.p_row.get(), scan.q_row.get(), scan.row_scale.get());
    triples<kForm>(scan, to, h + 1, scan.n - 2, list);
  }
}

template <int kForm>
void sets(SubspectraScan& scan, int size, int64_t begin, int64_t end, SubspectraScanList& out) {
  const auto stream = scan.device->stream;
  const int64_t capacity = std::min<int64_t>(out.capacity, kSets);
  const SetList list{scan.sets.get(), scan.sets_found.get(), static_cast<unsigned long long>(capacity), size};
  check(GPU(MemsetAsync)(scan.sets_found.get(), 0, sizeof(unsigned long long), stream), "clearing memory");
  const Level level = level_of(scan, scan.base, -1);
  const int64_t last = std::min(end, scan.n - size + 1);
  if (size == 2) {
    for (int64_t at = begin; at < last; at += 32768) {
      const int64_t rows = std::min<int64_t>(32768, last - at);
      const unsigned int width = std::min(blocks_for(scan.n), 32U);
      pairs_kernel<kForm><<<dim3(width, static_cast<unsigned int>(rows)), kBlock, 0, stream>>>(
          level, base_of(scan), static_cast<int>(at), static_cast<int>(at + rows), list);
    }
    check(GPU(GetLastError)(), "a scan of pairs");
  } else if (size == 3) {
    triples<kForm>(scan, level, begin, last, list);
  } else {
    fours<kForm>(scan, begin, end, list);
  }
  unsigned long long found = 0;
  check(GPU(MemcpyAsync)(&found, scan.sets_found.get(), sizeof found, GPU(MemcpyDeviceToHost), stream),
        "a copy");
  check(GPU(StreamSynchronize)(stream), "a scan");
  out.found = static_cast<int64_t>(std::min<unsigned long long>(found, 1ULL << 60));
  if (out.found > capacity) {
    out.found = std::max(out.found, out.capacity + 1);
    return;
  }
  check(GPU(Memcpy)(out.sets, scan.sets.get(), static_cast<size_t>(out.found * size) * 4,
                    GPU(MemcpyDeviceToHost)),
        "a copy");
  for (const int32_t j : scan.loose) {
    if (j < begin || j >= end) continue;
    if (out.found < out.capacity) {
      out.sets[out.found * size] = j;
      for (int place = 1; place < size; ++place) out.sets[out.found * size + place] = -1;
    }
    ++out.found;
  }
}

template <class Body>
auto by_form(int form, const Body& body) {
  switch (form) {
    case kDefinite:
      return body(std::integral_constant<int, kDefinite>());
    case kRatio:
      return body(std::integral_constant<int, kRatio>());
    default:
      return body(std::integral_constant<int, kTrace>());
  }
}

int count(int* cards, char* why, size_t why_size) {
  return guarded(why, why_size, [&] {
    *cards = 0;
    check(GPU(GetDeviceCount)(cards), "looking for cards");
  });
}

int open(int card, const char* products, SubspectraDevice** out, char* why, size_t why_size) {
  return guarded(why, why_size, [&] {
    auto device = std::make_unique<SubspectraDevice>();
    device->card = card;
    on(*device);
    check(GPU(StreamCreate)(&device->stream), "starting the card");
    std::string reason;
    if (products != nullptr && !device->products.load(products, device->stream, reason))
      fail(SUBSPECTRA_DEVICE_FAILED, "%s", reason.c_str());
    *out = device.release();
  });
}
void close(SubspectraDevice* device) { delete device; }

int describe(SubspectraDevice* device, SubspectraDeviceInfo* info, char* why, size_t why_size) {
  return guarded(why, why_size, [&] {
    on(*device);
    DeviceProperties properties;
    check(GPU(GetDeviceProperties)(&properties, device->card), "asking the card");
    std::snprintf(info->name, sizeof info->name, "%.*s", static_cast<int>(sizeof info->name) - 1,
                  properties.name);
    std::snprintf(info->arithmetic, sizeof info->arithmetic, "%s", device->products.arithmetic().c_str());
    size_t free = 0, all = 0;
    check(GPU(MemGetInfo)(&free, &all), "asking the card");
    info->memory = all;
    info->memory_free = free;
  });
}

uint64_t scan_bytes(const SubspectraScanProblem* problem, int size) { return bytes_of(*problem, size); }

int scan_open(SubspectraDevice* device, const SubspectraScanProblem* problem, int size, SubspectraScan** out,
              char* why, size_t why_size) {
  return guarded(why, why_size, [&] {
    on(*device);
    auto scan = std::make_unique<SubspectraScan>();
    scan->device = device;
    scan->form = problem->form;
    scan->size = size;
    scan->n = problem->features;
    scan->lead = padded(scan->n);
    scan->rows = problem->rows;
    scan->r = problem->directions;
    scan->rounding = problem->rounding;
    scan->dependent = problem->dependent;
    if (size < 2 || size > kMaxSize || scan->n < size || scan->r < 1 || problem->form < 0 ||
        problem->form > kTrace)
      fail(SUBSPECTRA_DEVICE_FAILED, "no such problem: %lld features, sets of %d",
           static_cast<long long>(scan->n), size);
    if (size >= 4 && scan->n > 65535)
      fail(SUBSPECTRA_DEVICE_UNSUITED,
           "sets of four are looked for among at most 65,535 features, but there are %lld",
           static_cast<long long>(scan->n));
    require_memory(bytes_of(*problem, size), scan->n);
    if (scan->rows > 0) {
      scan->factor.take(scan->n * scan->rows, "the table");
      upload(scan->factor.get(), problem->factor, scan->rows, problem->factor_lead, scan->rows, scan->n);
      if (problem->added != nullptr) {
        scan->added.take(scan->n, "the ridge");
        upload(scan->added.get(), problem->added, scan->n, scan->n, scan->n, 1);
      }
    } else {
      scan->given.take(scan->n * scan->lead, "the matrix");
      set_zero(scan->given, device->stream);
      check(GPU(StreamSynchronize)(device->stream), "clearing memory");
      upload(scan->given.get(), problem->matrix, scan->n, problem->matrix_lead, scan->lead, scan->n);
    }
    std::vector<double> by_feature(static_cast<size_t>(scan->n * scan->r));
    for (int64_t j = 0; j < scan->n; ++j)
      for (int64_t d = 0; d < scan->r; ++d)
        by_feature[static_cast<size_t>(j * scan->r + d)] = problem->direction[d * scan->n + j];
    scan->direction.take(scan->n * scan->r, "the directions");
    upload(scan->direction.get(), by_feature.data(), scan->n * scan->r, scan->n * scan->r, scan->n * scan->r,
           1);
    take_level(scan->base, *scan, "the matrices");
    scan->scale.take(scan->lead, "the scale");
    scan->facts.take(1, "the facts");
    scan->sets.take(kSets * kMaxSize, "the sets");
    scan->sets_found.take(1, "the sets");
    if (size >= 3) {
      const int64_t rows = term_rows(scan->form, scan->lead);
      scan->terms.take(rows * scan->lead * arrays_of(scan->form), "the terms");
      scan->factors.take(rows, "the terms");
      scan->hits.take(kHits, "the hits");
      scan->hits_found.take(1, "the hits");
    }
    if (size >= 4) {
      take_level(scan->reduced, *scan, "what a feature leaves of the matrices");
      scan->p_row.take(scan->lead, "a row");
      scan->q_row.take(scan->lead, "a row");
      scan->row_scale.take(scan->lead, "a row");
    }
    check(GPU(StreamSynchronize)(device->stream), "clearing memory");
    *out = scan.release();
  });
}
void scan_close(SubspectraScan* scan) {
  if (scan == nullptr) return;
  (void)GPU(SetDevice)(scan->device->card);
  (void)GPU(StreamSynchronize)(scan->device->stream);
  delete scan;
}

int scan_prepare(SubspectraScan* scan, double limit, char* why, size_t why_size) {
  return guarded(why, why_size, [&] {
    on(*scan->device);
    scan->prepared = false;
    if (!(limit > 0.0) || !(limit < 600.0 || scan->form != kRatio) || !std::isfinite(limit))
      fail(SUBSPECTRA_DEVICE_UNSUITED, "a limit of %g is none that sets can be held against on the card",
           limit);
    by_form(scan->form, [&](auto form) { prepare<decltype(form)::value>(*scan, limit); });
  });
}

int scan_sets(SubspectraScan* scan, int size, int64_t first_begin, int64_t first_end,
              SubspectraScanList* list, char* why, size_t why_size) {
  return guarded(why, why_size, [&] {
    on(*scan->device);
    list->found = 0;
    if (!scan->prepared || size < 2 || size > scan->size || first_begin < 0 || first_end > scan->n ||
        list->capacity < 0)
      fail(SUBSPECTRA_DEVICE_FAILED, "no such scan: sets of %d, first features %lld to %lld", size,
           static_cast<long long>(first_begin), static_cast<long long>(first_end));
    if (first_begin >= first_end) return;
    by_form(scan->form,
            [&](auto form) { sets<decltype(form)::value>(*scan, size, first_begin, first_end, *list); });
  });
}

const SubspectraDeviceTable kTable = {SUBSPECTRA_DEVICE_ABI,
                                      sizeof(SubspectraDeviceTable),
                                      GPU_VENDOR,
                                      count,
                                      open,
                                      close,
                                      describe,
                                      scan_bytes,
                                      scan_open,
                                      scan_close,
                                      scan_prepare,
                                      scan_sets,
                                      table_open,
                                      table_close,
                                      table_put,
                                      pass_bytes,
                                      pass_open,
                                      pass_close,
                                      pass_steps,
                                      pass_dependent};

}  // namespace
}  // namespace gpu

extern "C" __attribute__((visibility("default"))) const SubspectraDeviceTable* subspectra_device_table(void) {
  return &gpu::kTable;
}
