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
        if (event.key !== 'Escape' || !isOpen) return;
        event.preventDefault();
        event.stopPropagation();
        setOpen(false);
        box.current?.querySelector('summary')?.focus();
      }}
    >
      <summary aria-label={label} title={label}>
        {button}
      </summary>
      <div>{children}</div>
    </details>
  );
}
