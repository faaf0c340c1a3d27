/** Icon paths on a grid of 20, in the colour of the adjacent text. */
const paths = {
  home: 'M3 9l7-6 7 6v8h-5v-5H8v5H3z',
  folder: 'M2.5 5h5l2 2h8v9h-15z',
  cube: 'M10 2.5l6.5 3.7v7.6L10 17.5l-6.5-3.7V6.2zM3.7 6.3L10 10l6.3-3.7M10 10v7.4',
  people:
    'M7 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM1.5 17c0-3.5 2.4-5.5 5.5-5.5s5.5 2 5.5 5.5M13 3.4a3 3 0 0 1 0 5.2M15 12c2.200.8 3.5 2.600 3.500 5',
  person: 'M10 9.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM3 18c0-4 3-6 7-6s7 2 7 6',
  book: 'M10 5c-2-1.500-4.500-2-7-2v12c2.500 0 5 .5 7 2 2-1.500 4.500-2 7-2V3c-2.500 0-5 .5-7 2zm0 0v12',
  search: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zm4.300-1.700L17.500 17.500',
  close: 'M5 5l10 10M15 5L5 15',
  plus: 'M10 4v12M4 10h12',
  down: 'M5 8l5 5 5-5',
  up: 'M5 12l5-5 5 5',
  left: 'M12 5l-5 5 5 5',
  right: 'M8 5l5 5-5 5',
  open: 'M11 3h6v6M17 3l-8 8M14 11.500V17H3V6h5.500',
  picture: 'M3 3.500h14v13H3zM3 14l4.500-4.500 3.500 3.500 2.500-2.500L17 14M12.500 7.500v.01',
  check: 'M4 10.500l4 4 8-9',
  cross: 'M5.500 5.500l9 9m0-9l-9 9',
  clock: 'M10 17.500a7.500 7.500 0 1 0 0-15 7.500 7.500 0 0 0 0 15zM10 6v4.200l3 1.800',
  play: 'M6 4l10 6-10 6z',
  stop: 'M5.500 5.500h9v9h-9z',
  slash: 'M10 17.500a7.500 7.500 0 1 0 0-15 7.500 7.500 0 0 0 0 15zM5 15L15 5',
  again: 'M16.500 9.500A6.500 6.500 0 1 0 14.700 14.500M17 4v5.500h-5.500',
  trash:
    'M3.500 5.500h13M8 5.500v-2h4v2M5 5.500l.8 11.500h8.400L15 5.500M8.300 8.500v5.500M11.700 8.500v5.500',
  copy: 'M7 7h9.500v10H7zM13 7V3H3.500v10H7',
  download: 'M10 3v10m-4-4l4 4 4-4M3.500 16.500h13',
  upload: 'M10 13V3M6 7l4-4 4 4M3.500 16.500h13',
  chart: 'M3 3v14h14M6 13l3.500-4.500 3 2.500L17 5.500',
  columns: 'M3 4h14v12H3zM7.700 4v12M12.300 4v12',
  filter: 'M3 4.500h14l-5.500 6.500v5l-3 1.500v-6.500z',
  tag: 'M3 3h6.500l7.500 7.500-6.500 6.500L3 9.500zM6.500 6.500v.01',
  warn: 'M10 3l7.500 13.500h-15zM10 8v4m0 2.200v.01',
  file: 'M5 2.500h6l4 4v11H5zM11 2.500v4h4',
  out: 'M8 3.500H3.500v13H8M12 6l4 4-4 4M16 10H7.500',
  bolt: 'M11 2.500L4.500 11.500h4.500L8.500 17.500 15.500 8h-5z',
} as const;

export type IconName = keyof typeof paths;

export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg class="icon" width={size} height={size} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <path d={paths[name]} />
  </svg>
);
