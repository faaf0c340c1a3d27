import { cssColour } from '../../theme/colours.ts';

/** Number of colours between the worst and the best value. */
export const shadeCount = 24;

const stops = ['shade-1', 'shade-2', 'shade-3', 'shade-4', 'shade-5'];

const channels = (hex: string): number[] => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

/** Return the colours from the worst value to the best, in the present colours of the page. */
export function shades(): string[] {
  const colours = stops.map((name) => channels(cssColour(name)));
  return Array.from({ length: shadeCount }, (_, index) => {
    const at = (index / (shadeCount - 1)) * (stops.length - 1);
    const [from = [], to = []] = [colours[Math.floor(at)], colours[Math.ceil(at)]];
    const mixed = from.map((low, one) => Math.round(low + ((to[one] ?? low) - low) * (at % 1)));
    return `rgb(${mixed.join(' ')})`;
  });
}

/** Return the number of a colour for a place from 0 to 1. */
export const shadeAt = (place: number): number =>
  Math.round(Math.max(0, Math.min(1, place)) * (shadeCount - 1));
