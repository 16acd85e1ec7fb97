// Numbers as people read them.

/** A number with its thousands apart. */
export function whole(value) {
  return Math.round(value).toLocaleString("en-US");
}

/** A share as a percentage, to two digits or so. */
export function percent(share) {
  if (share === null || share === undefined) return "–";
  const value = 100 * share;
  if (value === 0) return "0%";
  if (value >= 9.95) return `${value.toFixed(0)}%`;
  if (value >= 0.995) return `${value.toFixed(1)}%`;
  if (value >= 0.0095) return `${value.toFixed(2)}%`;
  return value >= 0.00005 ? `${value.toPrecision(1)}%` : "<0.0001%";
}

/** A share on an axis, as short as it can be: 2.5%, 5%. */
export function axisPercent(share) {
  return `${Number((100 * share).toPrecision(6))}%`;
}

/** A number to three digits. */
export function plain(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 100000)) return value.toExponential(1).replace("e+", "e");
  if (size >= 100) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

/** How many times as often as expected. */
export function times(value) {
  return `${value >= 99.5 ? whole(value) : Number(value.toPrecision(2))}×`;
}

/** 1st, 2nd, 3rd, 4th. */
export function ordinal(n) {
  const tens = n % 100;
  const ending = tens >= 11 && tens <= 13 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th");
  return `${whole(n)}${ending}`;
}
