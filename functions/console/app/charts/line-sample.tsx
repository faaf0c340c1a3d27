import { lineColour, lineDash } from '../theme/colours.ts';

/** Sample of a run's line. */
export const LineSample = ({ style }: { style: number }) => (
  <svg class="line-sample" width="18" height="8" aria-hidden="true">
    <line
      x1="1"
      x2="17"
      y1="4"
      y2="4"
      stroke={`var(--${lineColour(style)})`}
      {...(lineDash(style) && {
        'stroke-dasharray':
          lineDash(style)
            ?.map((one) => one / 1.6)
            .join(' ') ?? '',
      })}
    />
  </svg>
);
