// SPDX-License-Identifier: Apache-2.0
// Values for people: three digits and a unit they know.

const NARROW_SPACE = '\u202f';

export function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size < 1e-4 || size >= 1e15) return value.toPrecision(3);
  const beforePoint = Math.floor(Math.log10(size)) + 1;
  let text = value.toFixed(Math.max(0, 3 - beforePoint));
  if (text.includes('.')) text = text.replace(/\.?0+$/, '');
  const [whole = '', fraction] = text.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, NARROW_SPACE);
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function scaled(value: number, units: string[]): string {
  let step = 0;
  while (Math.abs(value) >= 999.5 && step + 1 < units.length) {
    value /= 1000;
    step += 1;
  }
  return `${formatNumber(value)} ${units[step] ?? ''}`;
}

export function formatBytes(bytes: number): string {
  return scaled(bytes, ['B', 'kB', 'MB', 'GB', 'TB', 'PB']);
}

export function formatDuration(seconds: number): string {
  const size = Math.abs(seconds);
  if (size === 0) return '0 s';
  if (size < 1e-3) return `${formatNumber(seconds * 1e6)} µs`;
  if (size < 1) return `${formatNumber(seconds * 1e3)} ms`;
  if (size < 60) return `${formatNumber(seconds)} s`;
  const whole = Math.round(seconds);
  const withRest = (big: string, rest: number, unit: string): string => (rest === 0 ? big : `${big} ${rest} ${unit}`);
  if (whole < 3600) return withRest(`${Math.floor(whole / 60)} min`, whole % 60, 's');
  return withRest(`${Math.floor(whole / 3600)} h`, Math.floor((whole % 3600) / 60), 'min');
}

/** A word for one thing in the plural, as units are named: "1 thread", "2 threads". */
function counted(value: number, unit: string): string {
  const word = formatNumber(value) === '1' ? unit.replace(/sses$/, 'ss').replace(/s$/, '') : unit;
  return `${formatNumber(value)} ${word}`;
}

export function formatValue(value: number | undefined, unit: string): string {
  if (value === undefined || !Number.isFinite(value)) return '–';
  switch (unit) {
    case 'seconds': return formatDuration(value);
    case 'bytes': return formatBytes(value);
    case 'bytes per second': return `${formatBytes(value)}/s`;
    case 'ratio': return `${formatNumber(value * 100)} %`;
    case 'celsius': return `${formatNumber(value)} °C`;
    case 'hertz': return scaled(value, ['Hz', 'kHz', 'MHz', 'GHz']);
    case 'watts': return `${formatNumber(value)} W`;
    case 'joules': return `${formatNumber(value)} J`;
    case '': return formatNumber(value);
    default:
      if (unit.endsWith('per second')) return `${formatNumber(value)} /s`;
      return counted(value, unit);
  }
}

/** Where it is already told what is counted: on a plot's value axis, behind another value. */
export function formatTick(value: number, unit: string): string {
  return /^(seconds|bytes|bytes per second|ratio|celsius|hertz|watts|joules)$/.test(unit) ? formatValue(value, unit) : formatNumber(value);
}

/** A point on a plot's time axis, whose neighbours are `step` seconds away: "5 s", "1:30", "2:05:00". */
export function formatClock(seconds: number, step = 1): string {
  const digits = step >= 1 ? 0 : Math.min(3, Math.ceil(-Math.log10(step)));
  if (Math.abs(seconds) < 60) return `${seconds.toFixed(digits)} s`;
  const two = (n: number): string => String(n).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  const rest = (seconds - minutes * 60).toFixed(digits).padStart(digits > 0 ? digits + 3 : 2, '0');
  if (minutes < 60) return `${minutes}:${rest}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${rest}`;
}

export function formatDate(unixNanoseconds: number): string {
  const date = new Date(unixNanoseconds / 1e6);
  return date.toLocaleString(undefined, { dateStyle: 'long', timeStyle: 'short' });
}
