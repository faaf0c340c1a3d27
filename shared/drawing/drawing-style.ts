/** Colours of charts and receipts. Drawings of configurations use the same text colours. */
export const colours = {
  text: '#1b1f24',
  faintText: '#4a525c',
  page: '#f6f7f9',
  panel: '#ffffff',
  frame: '#dfe3e8',
  grid: '#e9ecf0',
  axis: '#8a94a0',
} as const;

export const font = 'Verdana, DejaVu Sans, Helvetica, Arial, sans-serif';
export const titleSize = 15;
export const nameSize = 13;
export const labelSize = 11;
