import type { Subset } from './metric-panels.ts';

/** Same colours as the drawings of configurations; the lines' have a contrast of at least 4.5 to 1 and differ to every eye. */
export const colours = {
  text: '#1b1f24',
  faintText: '#4a525c',
  page: '#f6f7f9',
  panel: '#ffffff',
  frame: '#dfe3e8',
  grid: '#e9ecf0',
  axis: '#8a94a0',
} as const;

export const lineColours: Readonly<Record<Subset, string>> = {
  '': '#0b63b0',
  train: '#7a3fb8',
  val: '#b8500c',
  test: '#17704a',
};

export const font = 'Verdana, DejaVu Sans, Helvetica, Arial, sans-serif';
export const titleSize = 15;
export const nameSize = 13;
export const labelSize = 11;
