import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../ui/controls/button.tsx';

/** Slider over all steps, with a button that plays them. */
export function StepSlider({
  steps,
  index,
  onIndex,
}: {
  steps: readonly number[];
  index: number;
  onIndex: (index: number) => void;
}) {
  const [isPlaying, setPlaying] = useState(false);
  const at = useRef(index);
  at.current = index;
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setInterval(() => {
      if (at.current >= steps.length - 1) setPlaying(false);
      else onIndex(at.current + 1);
    }, 250);
    return () => clearInterval(timer);
  }, [isPlaying, steps.length]);
  const text = `step ${(steps[index] ?? 0).toLocaleString('en')}`;
  return (
    <div class="step-bar">
      <Button
        kind="quiet"
        icon={isPlaying ? 'stop' : 'play'}
        label={isPlaying ? 'Stop' : 'Play the steps'}
        onClick={() => {
          if (!isPlaying && index === steps.length - 1) onIndex(0);
          setPlaying(!isPlaying);
        }}
      />
      <input
        type="range"
        aria-label="Step"
        data-key="s"
        aria-valuetext={text}
        min={0}
        max={steps.length - 1}
        value={index}
        onInput={({ currentTarget }) => onIndex(Number(currentTarget.value))}
      />
      <output class="number">{text}</output>
      <span class="soft small only-wide">of {(steps.at(-1) ?? 0).toLocaleString('en')}</span>
    </div>
  );
}
