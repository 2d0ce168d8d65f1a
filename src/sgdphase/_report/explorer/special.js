// Functions that JavaScript does not have: log gamma and the complementary error function.

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
  1.5056327351493116e-7,
];

// Lanczos' series with g = 7, for x > 0; relative error of gamma below 1e-14.
export function logGamma(x) {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const t = x + 6.5;
  let sum = LANCZOS[0];
  for (let i = 1; i < LANCZOS.length; i++) sum += LANCZOS[i] / (x - 1 + i);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

// A series near 0, and a continued fraction (from its end, by 60 terms) beyond 2.
export function erfc(x) {
  const a = Math.abs(x);
  if (a > 27) return x > 0 ? 0 : 2;
  if (a < 2.2) {
    let term = x;
    let sum = x;
    for (let n = 1; n < 60 && Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }
  let fraction = 0;
  for (let k = 60; k >= 1; k--) fraction = (0.5 * k) / (a + fraction);
  const tail = Math.exp(-a * a) / (Math.sqrt(Math.PI) * (a + fraction));
  return x > 0 ? tail : 2 - tail;
}
