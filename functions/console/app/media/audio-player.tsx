import { useEffect, useRef, useState } from 'preact/hooks';
import { cssColour, schemeChanges } from '../theme/colours.ts';
import { Button } from '../ui/controls/button.tsx';
import { problemText } from '../ui/states/problem.tsx';

/** One context for all players: browsers admit only a few. */
let context: AudioContext | undefined;
/** Stops the player that plays. */
let stopOther: (() => void) | undefined;

const clockText = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

/** Draw the loudest sample of each column of pixels; what was played in the accent colour. */
function draw(canvas: HTMLCanvasElement, buffer: AudioBuffer | undefined, played: number): void {
  const scale = devicePixelRatio;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = canvas.clientHeight * scale;
  const pen = canvas.getContext('2d');
  if (pen === null) return;
  const samples = buffer?.getChannelData(0);
  const columns = Math.floor(canvas.width / (3 * scale));
  const [accent, edge] = [cssColour('accent'), cssColour('edge')];
  for (let column = 0; column < columns; column += 1) {
    let peak = 0;
    if (samples !== undefined) {
      const from = Math.floor((column / columns) * samples.length);
      const to = Math.floor(((column + 1) / columns) * samples.length);
      const stride = Math.max(1, Math.floor((to - from) / 200));
      for (let index = from; index < to; index += stride)
        peak = Math.max(peak, Math.abs(samples[index] ?? 0));
    }
    const height = Math.max(2 * scale, Math.min(1, peak) * canvas.height * 0.9);
    pen.fillStyle = column / columns < played ? accent : edge;
    pen.fillRect(column * 3 * scale, (canvas.height - height) / 2, 2 * scale, height);
  }
}

/**
 * Player of a sound. It decodes the file itself and uses no `audio` element, because the page's policy admits no
 * media from a blob.
 */
export function AudioPlayer({ read, label }: { read: () => Promise<ArrayBuffer>; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [buffer, setBuffer] = useState<AudioBuffer>();
  const [state, setState] = useState<'idle' | 'loading' | 'playing'>('idle');
  const [position, setPosition] = useState(0);
  const [fault, setFault] = useState<string>();
  const source = useRef<{ node: AudioBufferSourceNode; startedAt: number } | undefined>(undefined);

  const stop = () => {
    const playing = source.current;
    source.current = undefined;
    if (playing !== undefined) {
      playing.node.onended = null;
      playing.node.stop();
    }
    setState('idle');
  };
  const play = async (from: number) => {
    stopOther?.();
    stopOther = stop;
    context ??= new AudioContext();
    let sound = buffer;
    if (sound === undefined) {
      setState('loading');
      try {
        sound = await context.decodeAudioData(await read());
        setBuffer(sound);
        setFault(undefined);
      } catch (error) {
        setFault(error instanceof DOMException ? 'This browser cannot play the file.' : problemText(error));
        return setState('idle');
      }
    }
    await context.resume();
    const node = context.createBufferSource();
    node.buffer = sound;
    node.connect(context.destination);
    const start = from >= sound.duration ? 0 : from;
    node.start(0, start);
    node.onended = () => {
      source.current = undefined;
      setState('idle');
      setPosition(0);
    };
    source.current = { node, startedAt: context.currentTime - start };
    setState('playing');
  };
  useEffect(() => {
    if (state !== 'playing') return;
    let frame = 0;
    const move = () => {
      const playing = source.current;
      if (playing !== undefined && context !== undefined)
        setPosition(context.currentTime - playing.startedAt);
      frame = requestAnimationFrame(move);
    };
    move();
    return () => cancelAnimationFrame(frame);
  }, [state]);
  useEffect(() => stop, []);
  useEffect(() => {
    if (canvas.current !== null)
      draw(canvas.current, buffer, buffer === undefined ? 0 : position / buffer.duration);
  }, [buffer, position, schemeChanges.value]);
  const duration = buffer?.duration ?? 0;
  return (
    <div class="audio">
      <Button
        kind="quiet"
        icon={state === 'playing' ? 'stop' : 'play'}
        label={state === 'playing' ? `Stop ${label}` : `Play ${label}`}
        disabled={state === 'loading'}
        onClick={() => (state === 'playing' ? stop() : play(position))}
      />
      <div class="wave">
        <canvas ref={canvas} />
        <input
          type="range"
          aria-label={`Position in ${label}`}
          aria-valuetext={clockText(position)}
          min={0}
          max={duration || 1}
          step={0.01}
          value={position}
          disabled={buffer === undefined}
          onInput={({ currentTarget }) => {
            const next = Number(currentTarget.value);
            setPosition(next);
            if (state === 'playing') void play(next);
          }}
        />
      </div>
      <span class="soft small number">
        {buffer === undefined ? '' : `${clockText(position)} / ${clockText(duration)}`}
      </span>
      {fault !== undefined && (
        <p class="fault small" role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}
