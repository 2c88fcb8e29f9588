// The page without a token: takes the address that `gander serve` printed, and keeps the model of a
// link.

const form = document.querySelector<HTMLFormElement>("#form")!;
const input = document.querySelector<HTMLInputElement>("#address")!;
const wrong = document.querySelector<HTMLElement>("#wrong")!;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const token = /(?:token=|^)([0-9a-f]{32})(?:[&#\s]|$)/.exec(input.value.trim())?.[1];
  if (!token) {
    wrong.textContent = "This address has no token.";
    return;
  }
  location.replace(`/?token=${token}${location.hash}`);
});
input.focus();
