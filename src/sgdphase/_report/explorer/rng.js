// Random numbers that are a function of a seed: xoshiro128** (Blackman and Vigna), seeded by
// splitmix32. A browser's Math.random cannot be seeded, and a link must reproduce a view.

export function makeRng(...words) {
  let mix = 0x9e3779b9;
  const next = () => {
    mix = (mix + 0x9e3779b9) | 0;
    let z = mix;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
  for (const word of words) mix = (next() ^ word) | 0;
  let [a, b, c, d] = [next(), next(), next(), next()];

  function bits() {
    let x = Math.imul(b, 5);
    x = Math.imul((x << 7) | (x >>> 25), 9);
    const t = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    d = (d << 11) | (d >>> 21);
    return x >>> 0;
  }

  // 53 random bits in [0, 1).
  const uniform = () => ((bits() >>> 5) * 67108864 + (bits() >>> 6)) / 9007199254740992;
  // An integer in [0, n); n is at most 2^16, so 32 bits leave no bias that can be measured.
  const below = (n) => Math.floor((bits() / 4294967296) * n);

  let spare = NaN;
  function normal() {
    if (spare === spare) {
      const kept = spare;
      spare = NaN;
      return kept;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
    const angle = 2 * Math.PI * uniform();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }

  // Marsaglia and Tsang (2000); below shape 1 by the power of a uniform number.
  function gamma(shape) {
    if (shape < 1) return gamma(shape + 1) * (1 - uniform()) ** (1 / shape);
    const d0 = shape - 1 / 3;
    const c0 = 1 / Math.sqrt(9 * d0);
    for (;;) {
      const x = normal();
      const v = (1 + c0 * x) ** 3;
      if (v > 0 && Math.log(1 - uniform()) < 0.5 * x * x + d0 * (1 - v + Math.log(v))) {
        return d0 * v;
      }
    }
  }

  return { uniform, below, normal, gamma };
}
