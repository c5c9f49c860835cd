// Shows how the chairs of each nature feel.
const table = document.getElementById("trend");
fetch("/api/trend").then((r) => r.json()).then((natures) => {
  for (const n of natures) {
    const row = table.insertRow();
    row.insertCell().textContent = n.nature;
    row.insertCell().textContent = `well ${n.well} of ${n.reported} times`;
  }
});
