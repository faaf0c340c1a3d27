const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Format bytes for people: three digits and a decimal unit, for example `3.20 MB`. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toPrecision(3)} ${units[unit]}`;
}
