/** How long a browser may take to fetch what it is to save, in milliseconds. */
const PATIENCE = 60_000;

/** Hands a file to the browser, which saves it as it saves downloads. */
export function saveFile(file: Blob, name: string) {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  document.body.append(link); // Firefox follows no link outside the document
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), PATIENCE);
}
