import { signal } from '@preact/signals';

const setting = 'mps-name-width';
const [least, most] = [100, 900];
const step = 16;

const stored = Number(localStorage.getItem(setting));

/** Width of the column of names in pixels, by the choice of this browser. Undefined for as wide as they need. */
export const nameWidth = signal(stored >= least && stored <= most ? stored : undefined);

function setNameWidth(width: number | undefined): void {
  nameWidth.value = width === undefined ? undefined : Math.round(Math.min(most, Math.max(least, width)));
  if (width === undefined) localStorage.removeItem(setting);
  else localStorage.setItem(setting, String(nameWidth.value));
}

const widthNow = (grip: Element): number =>
  nameWidth.peek() ?? grip.parentElement?.getBoundingClientRect().width ?? least;

/** Edge of the column of names: dragging or the arrow keys change its width, a double click makes it fit. */
export const NameGrip = () => (
  <div
    class="name-grip"
    role="separator"
    aria-orientation="vertical"
    aria-label="Width of the names"
    aria-valuenow={nameWidth.value ?? least}
    tabIndex={0}
    onPointerDown={(event) => {
      const { currentTarget: grip, clientX, pointerId } = event;
      event.preventDefault();
      grip.setPointerCapture(pointerId);
      const before = widthNow(grip);
      const move = (moved: PointerEvent) => setNameWidth(before + moved.clientX - clientX);
      grip.addEventListener('pointermove', move);
      grip.addEventListener('lostpointercapture', () => grip.removeEventListener('pointermove', move), {
        once: true,
      });
    }}
    onDblClick={() => setNameWidth(undefined)}
    onKeyDown={(event) => {
      const move = { ArrowLeft: -step, ArrowRight: step }[event.key];
      if (move === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      setNameWidth(widthNow(event.currentTarget) + move);
    }}
  />
);
