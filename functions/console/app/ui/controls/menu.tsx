import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Button that opens a small panel below it. A click elsewhere, or Escape, closes it. */
export function Menu({
  label,
  button,
  children,
}: {
  /** Name of the button. */
  label: string;
  /** What the button shows. */
  button: ComponentChildren;
  children: ComponentChildren;
}) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const leave = ({ target }: Event) => {
      if (!(target instanceof Node && box.current?.contains(target))) setOpen(false);
    };
    document.addEventListener('pointerdown', leave);
    return () => document.removeEventListener('pointerdown', leave);
  }, [isOpen]);
  return (
    <details
      ref={box}
      class="menu"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      onKeyDown={(event) => {
        const menu = event.currentTarget;
        // The state follows with the event of the browser, which a key right after the opening does not wait for.
        if (event.key !== 'Escape' || !menu.open) return;
        event.preventDefault();
        event.stopPropagation();
        menu.open = false;
        menu.querySelector('summary')?.focus();
      }}
    >
      <summary aria-label={label} title={label}>
        {button}
      </summary>
      <div>{children}</div>
    </details>
  );
}
