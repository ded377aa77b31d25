/** @jsxRuntime automatic @jsxImportSource #pages */
import encodeQR from "qr";

/** Modules of white around the code (ISO/IEC 18004). */
const BORDER = 4;

/** A text as a QR code. @param label describes it for screen readers */
export function QrCode({ text, label }: { text: string; label: string }) {
  const rows = encodeQR(text, "raw", { border: BORDER });
  const squares = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg
      class="qr-code"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
    >
      <path d={squares.join("")} />
    </svg>
  );
}
